import { type Static, Type } from '@sinclair/typebox'
import { ResourceId } from './id.ts'
import { Many, OneOf, Paths, Time } from './schema.ts'
import { serviceTypes } from './service-type.ts'

export const metricNames = [
  'cpu',
  'memory',
  'http-requests',
  'http-latency',
  'bandwidth',
  'instance-count',
  'cpu-limit',
  'memory-limit',
  'disk-usage',
  'disk-capacity',
  'active-connections',
  'used-memory',
  'keys',
  'cache-hits',
  'evictions',
  'operations',
] as const
export type MetricName = (typeof metricNames)[number]

/**
 * Cores; bytes; requests, lookups in the step; milliseconds; instances, connections, keys, on average, and keys that were evicted in the step;
 * seconds at the most.
 */
export const metricUnits = [
  'cpu',
  'bytes',
  'requests',
  'ms',
  'instances',
  'connections',
  'keys',
  'lookups',
  'per_second',
  'seconds',
] as const
export type MetricUnit = (typeof metricUnits)[number]

export const aggregationMethods = ['AVG', 'MAX', 'MIN'] as const
export type AggregationMethod = (typeof aggregationMethods)[number]

export const TimeSeries = Type.Object(
  {
    labels: Type.Array(Type.Object({ field: Type.String(), value: Type.String() })),
    values: Type.Array(
      Type.Object({
        timestamp: Type.String({ description: 'Beginning of the span of time that the value is of; RFC 3339, UTC' }),
        value: Type.Number(),
      }),
      { description: 'Oldest first. Times in which nothing was measured are left out.' },
    ),
    unit: OneOf(metricUnits),
  },
  { $id: 'TimeSeries' },
)
export type TimeSeries = Static<typeof TimeSeries>

const MetricTime = Type.String({
  maxLength: 40,
  pattern: '^(\\d{1,11}|\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2}))$',
  description: 'RFC 3339 time, or seconds since 1970',
  examples: ['2026-01-31T09:30:00Z'],
})

const range = {
  startTime: Type.Optional(MetricTime),
  endTime: Type.Optional(MetricTime),
  resolutionSeconds: Type.Optional(
    Type.Number({
      minimum: 1,
      maximum: 31_622_400,
      description: 'Length of a step. Rounded up to what is kept of that time and to at most 2,000 steps',
    }),
  ),
}

const ServiceIds = Type.String({ maxLength: 64, description: 'Id of a service, a database or a key-value store' })
const resources = {
  ownerId: Type.Optional(Type.String({ maxLength: 64 })),
  resource: Many(ServiceIds),
  service: Many(Type.String({ maxLength: 64, description: 'The old name of `resource`' })),
}
const instance = Many(Type.String({ maxLength: 64, description: 'Only these instances' }))
const requestFilters = {
  host: Many(Type.String({ maxLength: 256, description: 'Finds nothing: requests are not counted by host' })),
  path: Paths('Finds nothing: requests are not counted by path'),
}

export const HistoryQuery = Type.Object({ ...range, metric: Many(OneOf(metricNames)) })
export type HistoryQuery = Static<typeof HistoryQuery>

export const MetricQuery = Type.Object({ ...range, ...resources })
export const InstanceMetricQuery = Type.Object({
  ...range,
  ...resources,
  instance,
  aggregationMethod: Type.Optional(OneOf(aggregationMethods, 'Joins the instances of each service into one series')),
})
export type InstanceMetricQuery = Static<typeof InstanceMetricQuery>
export const RequestQuery = Type.Object({
  ...range,
  ...resources,
  ...requestFilters,
  aggregateBy: Type.Optional(
    OneOf(['statusCode', 'host'], 'statusCode: one series for each class of status (2xx …); host: all hosts in one series'),
  ),
})
export type RequestQuery = Static<typeof RequestQuery>
export const LatencyQuery = Type.Object({
  ...range,
  ...resources,
  ...requestFilters,
  quantile: Many(Type.String({ pattern: '^(0(\\.\\d{1,6})?|1(\\.0{1,6})?)$', description: '0 to 1, default 0.95', examples: ['0.95'] })),
})
export type LatencyQuery = Static<typeof LatencyQuery>

/** How a service stands as a whole; where its instances differ, as the one that stands first in this list. */
export const serviceStates = ['crash_looping', 'running', 'starting', 'asleep', 'stopped', 'suspended', 'not_deployed', 'live'] as const

const Maybe = (description: string) => Type.Union([Type.Number(), Type.Null()], { description })

export const ServiceUsage = Type.Object(
  {
    serviceId: ResourceId,
    name: Type.String(),
    type: OneOf([...serviceTypes, 'postgres', 'key_value']),
    state: OneOf(serviceStates, 'live: a static site that is served, or a cron job with a release; asleep: until the next request'),
    measuredAt: Type.Union([Time, Type.Null()]),
    instances: Type.Integer({ description: 'How many run' }),
    cpu: Maybe('Cores, all instances together; null while it is not known'),
    cpuLimit: Maybe('Cores, all instances together; null where there is none'),
    memoryBytes: Maybe('All instances together'),
    memoryLimitBytes: Maybe('All instances together'),
    diskBytes: Maybe('Taken of its disk; null without one, and while it is not known'),
    diskLimitBytes: Maybe('Size of its disk'),
    connections: Maybe('Of clients of a database or key-value store; null while it is not known, and for services'),
    requestsPerSecond: Maybe('null for what is not reached by HTTP'),
    errorsPerSecond: Maybe('Of these, answered with 5xx'),
    latencyP95Ms: Maybe('null where nothing was answered'),
    bytesInPerSecond: Maybe('Bodies and tunnels'),
    bytesOutPerSecond: Maybe('Bodies and tunnels'),
  },
  { $id: 'ServiceUsage' },
)
export type ServiceUsage = Static<typeof ServiceUsage>
