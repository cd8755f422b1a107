import type { StoredEvent } from '../events/rows.ts'

/** What an event says about whether things work. Signs of one topic of a service belong together. */
export interface Sign {
  kind: 'bad' | 'good'
  topic: string
  title: string
  /** What failed of the topic. Failures of the same thing are one failure; undefined where all of the topic are alike. */
  about?: string
  reason?: string
  logInstance?: string
  deployId?: string
  /** How long it has to stay good until it counts as over, in milliseconds. */
  calmMs?: number
  isEndless?: true
  /** Worth telling by itself, to those who want to hear of all. */
  isNews?: true
}

/** Longer than the longest pause between two starts of an instance that dies again and again. */
export const SERVER_CALM_MS = 5 * 60_000

export type Reader = (details: Record<string, unknown>, event: StoredEvent) => Sign | undefined

export const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
export const reasonIn = ({ reason, message }: Record<string, unknown>) => {
  const said = text(reason) ?? text(message)
  return said === undefined ? {} : { reason: said }
}
