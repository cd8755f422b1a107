import type { Probe } from './latency.ts'
import { percentile } from './percentile.ts'
import type { TryResult } from './red-team/attempt.ts'
import type { World } from './sandbox-world.ts'
import { letLoose, type Stressor } from './stressors.ts'

export interface Pressure {
  /** 99th percentile of the neighbour's answers in ms while nothing else runs. */
  quietMs: number
  samples: number
  under: { id: string; p99Ms: number; ratio: number; samples: number }[]
}

/**
 * A neighbour whose answers take this much longer than when it is quiet has been disturbed, unless they still come sooner than anybody
 * would notice: a third of a millisecond that becomes one is a turn of the scheduler.
 */
export const TOLERATED_RATIO = 2
const UNNOTICED_MS = 5

const ROUNDS = 3
const SAMPLE_MS = 1500
/** The engine knows an app that is always at its limit after one second or two, and has it yield. */
const KNOWN_MS = 2500
const SETTLE_MS = 400

export interface PressureOptions {
  world: World
  probe: Probe
  stressors: readonly Stressor[]
  progress(text: string): void
  signal: AbortSignal
}

/** Measures quiet and loaded times by turns, so that whatever else happens on the machine falls on all of them. */
export async function measurePressure({
  world,
  probe,
  stressors,
  progress,
  signal,
}: PressureOptions): Promise<{ pressure: Pressure; tries: TryResult[] }> {
  const quiet: number[] = []
  const loaded = new Map<string, number[]>(stressors.map(({ id }) => [id, []]))
  const tries = new Map<string, TryResult>()
  await probe.sample(SAMPLE_MS)
  for (let round = 1; round <= ROUNDS; round++) {
    for (const stressor of stressors) {
      signal.throwIfAborted()
      progress(`round ${round} of ${ROUNDS}: a neighbour, quiet and under ${stressor.id.replace('-', ' ')}`)
      quiet.push(...(await probe.sample(SAMPLE_MS / stressors.length)))
      const loose = letLoose(world, stressor)
      await Bun.sleep(KNOWN_MS)
      loaded.get(stressor.id)?.push(...(await probe.sample(SAMPLE_MS)))
      const result = await loose.stop()
      tries.set(stressor.id, merged(tries.get(stressor.id), result))
      await Bun.sleep(SETTLE_MS)
    }
  }
  const quietMs = percentile(quiet, 0.99)
  const under = stressors.map(({ id }) => {
    const samples = loaded.get(id) ?? []
    const p99Ms = percentile(samples, 0.99)
    return { id, p99Ms, ratio: p99Ms / quietMs, samples: samples.length }
  })
  return { pressure: { quietMs, samples: quiet.length, under }, tries: [...tries.values()] }
}

const merged = (before: TryResult | undefined, now: TryResult): TryResult => ({
  ...now,
  attempted: now.attempted + (before?.attempted ?? 0),
  succeeded: [...(before?.succeeded ?? []), ...now.succeeded],
})

export function quietNeighbour({ under, quietMs }: Pressure): TryResult {
  const disturbed = under.filter(({ ratio, p99Ms }) => ratio > TOLERATED_RATIO && p99Ms > UNNOTICED_MS)
  return {
    id: 'disturb-neighbour',
    title: `makes a neighbour's answers take more than ${TOLERATED_RATIO} times as long`,
    guarantee: 'quiet-neighbours',
    attempted: under.length,
    succeeded: disturbed.map(({ id, p99Ms }) => `${id}: p99 ${p99Ms.toFixed(2)} ms, quiet ${quietMs.toFixed(2)} ms`),
  }
}
