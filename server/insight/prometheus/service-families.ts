import { statusClasses } from '../../telemetry/metrics/samples.ts'
import { instancesIn, type ServiceSnapshot, type Snapshot, type Totals } from '../../telemetry/metrics/snapshot.ts'
import { emptyTally, latencyOf, type Tally, windowOf } from '../../telemetry/traffic/tally.ts'
import type { Family, Sample } from './exposition.ts'
import { histogramSamples } from './histogram.ts'

const MIB = 1024 * 1024
const MICROS = 1e6

type Labels = Record<string, string>

interface Shown {
  labels: Labels
  snapshot: ServiceSnapshot | undefined
  tally: Tally
  isReached: boolean
}

export interface Metered {
  id: string
  name: string
  isReached: boolean
}

/** What services and datastores use. Counts are since the start of this control plane. */
export function serviceFamilies(metered: readonly Metered[], latest: Snapshot | undefined, totals: Totals): Family[] {
  const shown = metered.map(
    ({ id, name, isReached }): Shown => ({
      labels: { service: id, service_name: name },
      snapshot: latest?.services.get(id),
      tally: totals.get(id) ?? emptyTally(),
      isReached,
    }),
  )
  return [...usageFamilies(shown), ...limitFamilies(shown), ...trafficFamilies(shown.filter(({ isReached }) => isReached))]
}

function usageFamilies(shown: readonly Shown[]): Family[] {
  const instances = shown.flatMap(({ labels, snapshot }) =>
    (snapshot?.instances ?? []).map((one) => ({ labels: { ...labels, instance_id: one.instance }, ...one })),
  )
  return [
    {
      name: 'cpd_instance_cpu_seconds',
      help: 'Processor time an instance has used, over all cores.',
      type: 'counter',
      samples: instances.map(({ labels, cpuTotalUs }) => ({ labels, value: cpuTotalUs / MICROS })),
    },
    {
      name: 'cpd_instance_memory_bytes',
      help: 'Memory an instance uses, without page cache that can be dropped.',
      type: 'gauge',
      samples: instances.map(({ labels, sample }) => ({ labels, value: sample.memory })),
    },
    {
      name: 'cpd_service_instances',
      help: 'Instances of a service or datastore that run.',
      type: 'gauge',
      samples: shown.flatMap(({ labels, snapshot }) => (snapshot === undefined ? [] : [{ labels, value: instancesIn(snapshot) }])),
    },
  ]
}

function limitFamilies(shown: readonly Shown[]): Family[] {
  const limits = (limitOf: (snapshot: ServiceSnapshot) => number): Sample[] =>
    shown.flatMap(({ labels, snapshot }) => {
      const value = snapshot === undefined ? 0 : limitOf(snapshot)
      return value === 0 ? [] : [{ labels, value }]
    })
  return [
    {
      name: 'cpd_service_cpu_limit_cores',
      help: 'Cores that each instance of a service or datastore may use.',
      type: 'gauge',
      samples: limits(({ facts }) => facts.cpuLimit / 1000),
    },
    {
      name: 'cpd_service_memory_limit_bytes',
      help: 'Memory that each instance of a service or datastore may use.',
      type: 'gauge',
      samples: limits(({ facts }) => facts.memoryLimit * MIB),
    },
    {
      name: 'cpd_service_disk_used_bytes',
      help: 'What is taken of the disk of a service or datastore, where that has a size of its own.',
      type: 'gauge',
      samples: limits(({ total }) => total.disk),
    },
    {
      name: 'cpd_service_disk_size_bytes',
      help: 'What the disk of a service or datastore can hold, where that has a size of its own.',
      type: 'gauge',
      samples: limits(({ total }) => total.diskSize),
    },
  ]
}

function trafficFamilies(shown: readonly Shown[]): Family[] {
  const windows = shown.map(({ labels, tally }) => ({ labels, tally, window: windowOf(tally) }))
  return [
    {
      name: 'cpd_http_requests',
      help: 'Requests that are over, by class of status; none where no whole answer reached the client, 1xx for tunnels.',
      type: 'counter',
      samples: windows.flatMap(({ labels, window }) =>
        statusClasses.map((name) => ({ labels: { ...labels, code_class: name }, value: window.byClass[name] })),
      ),
    },
    {
      name: 'cpd_http_request_duration_seconds',
      help: 'From the head received to the answer whole; the sum is within 9.1 %.',
      type: 'histogram',
      samples: windows.flatMap(({ labels, tally }) => histogramSamples(labels, latencyOf(tally))),
    },
    {
      name: 'cpd_http_bytes',
      help: 'Bytes of bodies and tunnels that have ended, by direction.',
      type: 'counter',
      samples: windows.flatMap(({ labels, window }) => [
        { labels: { ...labels, direction: 'in' }, value: window.bytesIn },
        { labels: { ...labels, direction: 'out' }, value: window.bytesOut },
      ]),
    },
  ]
}
