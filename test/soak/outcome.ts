import type { Failure } from './load/attempt.ts'

/** What a program of this folder has to say at its end. */
export interface Outcome {
  /** One line with the figures. */
  summary: string
  /** Each as a line; none is what is wanted. */
  failures: string[]
}

/** A failure for people, its times counted from the start of the load. */
export const describeFailure = ({ kind, openedAt, sentAt, doneAt, reason }: Failure, startedAt: number): string => {
  const [opened, sent, done] = [openedAt, sentAt, doneAt].map((at) => Math.round(at - startedAt))
  return `${kind}: opened at ${opened}, sent at ${sent}, failed at ${done} ms: ${reason}`
}

/** Says how far it is, with the time. */
export const progress = (text: string): void => console.log(`${new Date().toISOString().slice(11, 19)} ${text}`)

export const secondsSince = (startedAt: number): number => Math.round((performance.now() - startedAt) / 1000)
