import type { Problem } from './form.ts'

/** Sentences that a page may show, by what stands for them in its address. */
export type Sentences = Readonly<Record<string, string>>

/** Only sentences of a closed list are shown: no link can put other words into our mouth. */
export const sentenceIn = (sentences: Sentences, name: string | null): string | undefined =>
  name !== null && Object.hasOwn(sentences, name) ? sentences[name] : undefined

export function problemIn(sentences: Sentences, name: string | null): Problem | undefined {
  const message = sentenceIn(sentences, name)
  return message === undefined ? undefined : { message, fields: {} }
}
