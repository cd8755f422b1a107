import type { Reading } from './readings.ts'
import type { UsageSample } from './samples.ts'
import type { CpuReading } from './write.ts'

/** Readings further apart (milliseconds) say nothing about now. */
export const LONGEST_SPAN_MS = 30_000

export interface Before {
  atMs: number
  readings: ReadonlyMap<string, CpuReading>
}

export interface ServiceUsage {
  total: UsageSample
  instances: { instance: string; sample: UsageSample }[]
}

export function usageOf(at: number, readings: readonly Reading[], before: Before | undefined): Map<string, ServiceUsage> {
  const services = new Map<string, ServiceUsage>()
  for (const reading of readings) {
    const sample = sampleOf(at, reading, before)
    const { instance, service } = reading
    const known = services.get(service)
    if (known === undefined) services.set(service, { total: sample, instances: [{ instance, sample }] })
    else services.set(service, { total: together(known.total, sample), instances: [...known.instances, { instance, sample }] })
  }
  return services
}

export function idleUsage(at: number, spanMs: number): UsageSample {
  return {
    at,
    samples: 1,
    cpuUs: 0,
    cpuMs: spanMs > LONGEST_SPAN_MS ? 0 : spanMs,
    cpuPeak: 0,
    memory: 0,
    memoryPeak: 0,
    disk: 0,
    diskSize: 0,
  }
}

function sampleOf(at: number, { instance, atMs, cpuUs, memoryBytes: memory, disk }: Reading, before: Before | undefined): UsageSample {
  const { usedUs, spanMs } = cpuSince({ atMs, cpuUs }, before?.readings.get(instance), before?.atMs)
  const cpu = { cpuUs: usedUs, cpuMs: spanMs, cpuPeak: rateOf(usedUs, spanMs) }
  return { at, samples: 1, ...cpu, memory, memoryPeak: memory, disk: disk?.usedBytes ?? 0, diskSize: disk?.sizeBytes ?? 0 }
}

function cpuSince(
  { atMs, cpuUs }: Pick<Reading, 'atMs' | 'cpuUs'>,
  last: CpuReading | undefined,
  sampledAtMs: number | undefined,
): { usedUs: number; spanMs: number } {
  // One that was not there at the last look has used all of it since then.
  const sinceMs = last?.atMs ?? sampledAtMs ?? Number.NEGATIVE_INFINITY
  const spanMs = Math.round(atMs - sinceMs)
  if (!(spanMs > 0 && spanMs <= LONGEST_SPAN_MS)) return { usedUs: 0, spanMs: 0 }
  // Less than before: it was started anew.
  const usedUs = last === undefined || cpuUs < last.cpuUs ? cpuUs : cpuUs - last.cpuUs
  return { usedUs, spanMs }
}

/** Two instances at the same time. The rate of both is known only where each one's is, and what disk they have is the same one. */
function together(one: UsageSample, other: UsageSample): UsageSample {
  const isKnown = one.cpuMs > 0 && other.cpuMs > 0
  const cpuUs = isKnown ? one.cpuUs + other.cpuUs : 0
  const cpuMs = isKnown ? Math.max(one.cpuMs, other.cpuMs) : 0
  const memory = one.memory + other.memory
  const { disk, diskSize } = one.diskSize > 0 ? one : other
  return { at: one.at, samples: 1, cpuUs, cpuMs, cpuPeak: rateOf(cpuUs, cpuMs), memory, memoryPeak: memory, disk, diskSize }
}

const rateOf = (cpuUs: number, cpuMs: number): number => (cpuMs === 0 ? 0 : Math.round((cpuUs * 1000) / cpuMs))
