import type { KnownCounts, TrafficCounts } from '../../ingress/traffic/counts.ts'
import type { TrafficReader } from './port.ts'
import { beginSeries, extendSeries, firstAfter, KEPT_MS, lastBefore, type Series, thinned, trafficOf } from './series.ts'

export interface Sampler extends TrafficReader {
  take(counts: TrafficCounts, at: number): void
  known(epoch: string): KnownCounts | undefined
  all(): Iterable<Series>
}

const THIN_EVERY_MS = 10_000
/** An ingress that has told nothing for as long does not live any more. */
const ABSENCE_MS = 30_000

interface Epoch {
  revision: number
  seenAt: number
}

export function createSampler(): Sampler {
  const epochs = new Map<string, Epoch>()
  const held = new Map<string, Series[]>()
  let thinnedAt = 0
  let sampledAt = 0

  function seriesOf(epoch: string, entry: TrafficCounts['entries'][number]): Series {
    const key = entry.instanceId || entry.serviceId
    const rows = held.get(key) ?? []
    held.set(key, rows)
    const found = rows.find((series) => series.epoch === epoch && series.beganAt === entry.beganAt)
    if (found !== undefined) return found
    const series = beginSeries(epoch, entry)
    rows.push(series)
    return series
  }

  const seriesFor = (ids: readonly string[]) => new Set(ids).values().flatMap((id) => held.get(id) ?? [])

  function activeAt({ epoch, inFlight, tunnels, samples }: Series): number {
    const isAlive = sampledAt - (epochs.get(epoch)?.seenAt ?? 0) < ABSENCE_MS
    return isAlive && inFlight + tunnels > 0 ? sampledAt : (samples.at(-1)?.at ?? 0)
  }

  function forget(now: number): void {
    for (const [epoch, { seenAt }] of epochs) if (now - seenAt > KEPT_MS) epochs.delete(epoch)
    for (const [key, rows] of held) {
      const kept = rows.filter(
        (series) => now - (series.samples.at(-1)?.at ?? 0) <= KEPT_MS || (!series.isGone && epochs.has(series.epoch)),
      )
      for (const series of kept) series.samples = thinned(series.samples, now)
      if (kept.length > 0) held.set(key, kept)
      else held.delete(key)
    }
  }

  return {
    take({ epoch, revision, entries }, at) {
      epochs.set(epoch, { revision, seenAt: at })
      sampledAt = at
      for (const entry of entries) extendSeries(seriesOf(epoch, entry), entry, at)
      if (at - thinnedAt < THIN_EVERY_MS) return
      thinnedAt = at
      forget(at)
    },
    known(epoch) {
      const known = epochs.get(epoch)
      return known && { epoch, revision: known.revision }
    },
    sampledAt: () => sampledAt,
    lastActiveAt: (instanceIds) => Math.max(0, ...seriesFor(instanceIds).map(activeAt)),
    all: () => [...held.values()].flat(),
    since: (instanceIds, sinceMs) => trafficOf(seriesFor(instanceIds), sinceMs, lastBefore),
    after: (instanceIds, sinceMs) => trafficOf(seriesFor(instanceIds), sinceMs, firstAfter),
  }
}
