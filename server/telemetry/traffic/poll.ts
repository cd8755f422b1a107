import { dirname } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import { createIngressClient } from '../../ingress/control/client.ts'
import { otherSocketPaths } from '../../ingress/control/names.ts'
import { takeCounts } from '../../ingress/traffic/last-counts.ts'
import { type Repeated, repeat } from './repeated.ts'
import type { Sampler } from './sampler.ts'

export interface TrafficPollOptions {
  sampler: Sampler
  controlSocketPath: string
  now: () => number
  onError: (error: unknown) => void
  pollMs?: number
}

const DEFAULT_POLL_MS = 1000

/** Asks every ingress once a second for what has changed. Counts are running totals, and one that ends leaves its last in a file: none is missed. */
export function startTrafficPoll({ sampler, controlSocketPath, now, onError, pollMs = DEFAULT_POLL_MS }: TrafficPollOptions): Repeated {
  const epochOf = new Map<string, string>()

  const ask = async (path: string) => {
    const counts = await createIngressClient(path).counters(sampler.known(epochOf.get(path) ?? ''))
    epochOf.set(path, counts.epoch)
    sampler.take(counts, now())
  }
  const poll = async () => {
    const paths = [controlSocketPath, ...otherSocketPaths(controlSocketPath)]
    for (const path of epochOf.keys()) if (!paths.includes(path)) epochOf.delete(path)
    const answers = await Promise.allSettled(paths.map(ask))
    await takeCounts(dirname(controlSocketPath), (counts) => sampler.take(counts, now()))
    for (const answer of answers) if (answer.status === 'rejected' && !isAbsence(answer.reason)) onError(answer.reason)
  }
  return repeat(poll, { pollMs, onError })
}

const isAbsence = (error: unknown): boolean => error instanceof AppError && error.code === 'unavailable'
