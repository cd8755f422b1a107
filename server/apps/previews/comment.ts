import type { Preview, PreviewStatus } from '../../../shared/preview.ts'

const SHORT_ID = 8

const sentences: Record<PreviewStatus, string> = {
  not_asked_for: 'There is no preview of this request.',
  awaiting_approval: 'The commit comes from a fork. Nothing of it is built before somebody of the team has approved it.',
  waiting: 'The preview cannot be made now. It is tried again.',
  deploying: 'The preview is being deployed.',
  live: 'The preview is live.',
  failed: 'The newest commit could not be deployed.',
  deleted: 'The preview was deleted. The next push makes one again.',
  expired: 'The preview has expired, as nobody pushed for a while. The next push makes one again.',
  closed: 'The request is closed, and its preview is gone.',
}

const silent: ReadonlySet<PreviewStatus> = new Set(['not_asked_for', 'closed', 'deleted', 'expired'])

/** What the comment at a request says; empty where none is to be begun. Everybody who sees the request reads it, so no reason stands there. */
export function commentText(parent: string, { status, service, commitId }: Preview, isBegun: boolean): string {
  if (!isBegun && silent.has(status)) return ''
  const lines = [`**Preview of ${plain(parent)}**: ${sentences[status]}`]
  if (service !== undefined) lines.push('', service.url)
  lines.push('', `Commit \`${commitId.slice(0, SHORT_ID)}\``)
  return lines.join('\n')
}

const plain = (name: string): string => name.replace(/[^\p{L}\p{N} .-]/gu, (letter) => `&#${letter.codePointAt(0)};`)
