import { LATENCY_BUCKETS } from '../../ingress/traffic/latency.ts'
import { addEncoded, encodeCounts } from './counts-codec.ts'

/** Everything adds up exactly, so that windows of any length can be joined: times are sums, memory is an average weighed by the number of samples. */
export interface UsageSample {
  /** Beginning of the window, in seconds since 1970. */
  at: number
  samples: number
  /** Processor time in microseconds, used in `cpuMs` milliseconds; both 0 where no rate is known. */
  cpuUs: number
  cpuMs: number
  /** The highest rate of those joined, in millionths of a core. */
  cpuPeak: number
  /** Bytes, on average and at most. */
  memory: number
  memoryPeak: number
  /** Bytes of its disk that were taken, and all of them, at the end of the window; 0 where that was not known. */
  disk: number
  diskSize: number
}

/** Requests by class, in the order of the ingress: no whole answer, 1xx (tunnels) to 5xx. */
export const statusClasses = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const

export interface TrafficSample {
  at: number
  /** How often instances were counted; 0 for requests of a time nobody looked in. */
  samples: number
  instances: number
  instancesPeak: number
  /** The limit of each instance, in thousandths of a core and MiB, at the end of the window; 0 where there is none. */
  cpuLimit: number
  memoryLimit: number
  requests: readonly number[]
  bytesIn: number
  bytesOut: number
  /** Packed counts by bucket of ingress/traffic/latency.ts. */
  latency: Uint8Array | null
}

export function joinUsage(at: number, parts: readonly UsageSample[]): UsageSample {
  const joined: UsageSample = { at, samples: 0, cpuUs: 0, cpuMs: 0, cpuPeak: 0, memory: 0, memoryPeak: 0, ...diskOf(parts) }
  let memorySum = 0
  for (const part of parts) {
    joined.samples += part.samples
    joined.cpuUs += part.cpuUs
    joined.cpuMs += part.cpuMs
    joined.cpuPeak = Math.max(joined.cpuPeak, part.cpuPeak)
    memorySum += part.memory * part.samples
    joined.memoryPeak = Math.max(joined.memoryPeak, part.memoryPeak)
  }
  joined.memory = joined.samples === 0 ? 0 : Math.round(memorySum / joined.samples)
  return joined
}

function diskOf(parts: readonly UsageSample[]): Pick<UsageSample, 'disk' | 'diskSize'> {
  const { disk = 0, diskSize = 0 } = parts.findLast((part) => part.diskSize > 0) ?? {}
  return { disk, diskSize }
}

export function joinTraffic(at: number, parts: readonly TrafficSample[]): TrafficSample {
  const sum = (of: (part: TrafficSample) => number): number => parts.reduce((total, part) => total + of(part), 0)
  const newest = parts.findLast(({ samples }) => samples > 0)
  const withLatency = parts.filter(({ latency }) => latency !== null)
  return {
    at,
    samples: sum(({ samples }) => samples),
    instances: sum(({ instances }) => instances),
    instancesPeak: Math.max(0, ...parts.map(({ instancesPeak }) => instancesPeak)),
    cpuLimit: newest?.cpuLimit ?? 0,
    memoryLimit: newest?.memoryLimit ?? 0,
    requests: statusClasses.map((_, index) => sum(({ requests }) => requests[index] ?? 0)),
    bytesIn: sum(({ bytesIn }) => bytesIn),
    bytesOut: sum(({ bytesOut }) => bytesOut),
    latency: withLatency.length > 1 ? encodeCounts(latencyCounts(withLatency)) : (withLatency[0]?.latency ?? null),
  }
}

export function latencyCounts(parts: readonly Pick<TrafficSample, 'latency'>[]): Float64Array {
  const counts = new Float64Array(LATENCY_BUCKETS)
  for (const { latency } of parts) if (latency !== null) addEncoded(counts, latency)
  return counts
}

export const requestsOf = ({ requests }: Pick<TrafficSample, 'requests'>): number => requests.reduce((sum, count) => sum + count, 0)
