import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../shared/error.ts'
import { createIngressClient } from '../ingress/control-client.ts'
import type { Sampler } from './sampler.ts'

export interface TrafficPollOptions {
  sampler: Sampler
  /** Where the control sockets of the ingress stand: `ingress.sock`, and `ingress-<pid>.sock` of those that finish what they have. */
  socketsDir: string
  now: () => number
  onError: (error: unknown) => void
  pollMs?: number
}

export interface TrafficPoll {
  /** Looks now. */
  poll(): Promise<void>
  stop(): Promise<void>
}

const DEFAULT_POLL_MS = 1000
const socketName = /^ingress(-\d+)?\.sock$/

/**
 * Asks every ingress process for what has changed in its counts, once a second. One that does not answer is asked again: its counts
 * are running totals, so nothing is missed meanwhile.
 */
export function startTrafficPoll({ sampler, socketsDir, now, onError, pollMs = DEFAULT_POLL_MS }: TrafficPollOptions): TrafficPoll {
  const epochOf = new Map<string, string>()
  let isStopped = false
  let timer: Timer | undefined

  const ask = async (name: string) => {
    const counts = await createIngressClient(join(socketsDir, name)).counters(sampler.known(epochOf.get(name) ?? ''))
    epochOf.set(name, counts.epoch)
    sampler.take(counts, now())
  }
  const poll = async () => {
    const names = readdirSync(socketsDir).filter((name) => socketName.test(name))
    for (const name of epochOf.keys()) if (!names.includes(name)) epochOf.delete(name)
    const answers = await Promise.allSettled(names.map(ask))
    for (const answer of answers) if (answer.status === 'rejected' && !isAbsence(answer.reason)) onError(answer.reason)
  }
  const goOn = async (): Promise<void> => {
    await poll().catch(onError)
    if (!isStopped) schedule()
  }
  const schedule = () => {
    timer = setTimeout(() => {
      polling = goOn()
    }, pollMs)
    timer.unref()
  }
  let polling: Promise<void> = goOn()

  return {
    poll,
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await polling
    },
  }
}

/** Whoever sees to the ingress tells of that. */
const isAbsence = (error: unknown): boolean => error instanceof AppError && error.code === 'unavailable'
