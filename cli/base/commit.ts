import type { Commit } from '../../shared/deploy.ts'

const SHORT_ID = 8

/** A commit in a line: its short id, who wrote it, and the first line of what they say. Control characters are taken out where it is printed. */
export function commitText({ id, author, message }: Pick<Commit, 'id' | 'author' | 'message'>): string {
  const title = message.split('\n', 1)[0] ?? ''
  return [id.slice(0, SHORT_ID), author, title].filter((part) => part !== undefined && part !== '').join(' ')
}
