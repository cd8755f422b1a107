import type { Tally } from '../traffic/tally.ts'
import type { ServiceFacts } from './readings.ts'
import type { TrafficSample, UsageSample } from './samples.ts'

export interface InstanceSnapshot {
  instance: string
  sample: UsageSample
  cpuTotalUs: number
}

export interface ServiceSnapshot {
  facts: ServiceFacts
  total: UsageSample
  instances: InstanceSnapshot[]
  traffic: TrafficSample | undefined
}

export interface Snapshot {
  atMs: number
  services: ReadonlyMap<string, ServiceSnapshot>
}

export type Totals = ReadonlyMap<string, Tally>

/** How many instances run. Jobs are measured like them and their usage is the service's, but they are none of its instances. */
export const instancesIn = ({ instances }: Pick<ServiceSnapshot, 'instances'>): number =>
  instances.filter(({ instance }) => !instance.startsWith('job-')).length
