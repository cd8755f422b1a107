import { Type } from '@sinclair/typebox'
import { ResourceId } from '../id.ts'
import { HistoryQuery, InstanceMetricQuery, LatencyQuery, MetricQuery, RequestQuery, ServiceUsage, TimeSeries } from '../metrics.ts'
import { defineOperations } from '../operation.ts'

const ServiceParams = Type.Object({ serviceId: ResourceId })
const common = { method: 'GET', access: 'metrics.read', tag: 'Metrics', errors: ['not_found'] } as const
const series = { responses: { 200: Type.Array(TimeSeries) } }
/** What clients ask for along with the rest, and fail without. */
const notMeasured = { ...common, query: MetricQuery, ...series }

/** What services use and are asked for. Values are bare series, without pages. */
export const metricOperations = defineOperations({
  listServiceUsage: {
    ...common,
    path: '/v1/metrics',
    summary: 'What every service and datastore of the workspace uses now',
    description:
      'The newest sample of each, in the order of their names: what a live table needs, in one request. Databases and key-value stores are told to who holds `datastores.read`.',
    query: Type.Object({ ownerId: Type.Optional(Type.String({ maxLength: 64 })) }),
    responses: { 200: Type.Array(ServiceUsage) },
  },
  getServiceCpu: {
    ...common,
    path: '/v1/metrics/:serviceId/cpu',
    summary: 'Processor use now, by instance',
    params: ServiceParams,
    ...series,
  },
  getServiceMemory: {
    ...common,
    path: '/v1/metrics/:serviceId/memory',
    summary: 'Memory use now, by instance',
    params: ServiceParams,
    ...series,
  },
  getMetricsHistory: {
    ...common,
    path: '/v1/services/:serviceId/metrics/history',
    summary: 'Metrics of a service or database over time',
    description:
      'Of the last hour and all metrics unless said otherwise. Ten seconds are kept for 1 hour, minutes for 48 hours, hours for 30 days, days (of the service as a whole) for 395 days.',
    params: ServiceParams,
    query: HistoryQuery,
    ...series,
  },
  queryCpu: { ...common, path: '/v1/metrics/cpu', summary: 'Processor use in cores, by instance', query: InstanceMetricQuery, ...series },
  queryMemory: {
    ...common,
    path: '/v1/metrics/memory',
    summary: 'Memory use in bytes, by instance',
    query: InstanceMetricQuery,
    ...series,
  },
  queryHttpRequests: { ...common, path: '/v1/metrics/http-requests', summary: 'Requests in each step', query: RequestQuery, ...series },
  queryHttpLatency: {
    ...common,
    path: '/v1/metrics/http-latency',
    summary: 'Quantiles of the time to the whole answer, in milliseconds',
    description: 'Within 9.1 %, also over long steps: they are joined from histograms.',
    query: LatencyQuery,
    ...series,
  },
  queryBandwidth: { ...common, path: '/v1/metrics/bandwidth', summary: 'Bytes in each step, in and out', query: MetricQuery, ...series },
  queryInstanceCount: { ...common, path: '/v1/metrics/instance-count', summary: 'Running instances', query: MetricQuery, ...series },
  queryCpuLimit: { ...common, path: '/v1/metrics/cpu-limit', summary: 'Cores that an instance may use', query: MetricQuery, ...series },
  queryMemoryLimit: {
    ...common,
    path: '/v1/metrics/memory-limit',
    summary: 'Bytes that an instance may use',
    query: MetricQuery,
    ...series,
  },
  queryDiskUsage: {
    ...common,
    path: '/v1/metrics/disk-usage',
    summary: 'Bytes of a disk that are taken',
    description:
      'Of databases, key-value stores, and services with a disk, while something runs of them and their disk has a size of its own.',
    query: MetricQuery,
    ...series,
  },
  queryDiskCapacity: { ...common, path: '/v1/metrics/disk-capacity', summary: 'Bytes that a disk can hold', query: MetricQuery, ...series },
  queryReplicationLag: {
    ...common,
    path: '/v1/metrics/replication-lag',
    summary: 'Seconds that read replicas are behind',
    description: 'The most in each step, of the last two days. Of a database that is written to there is none.',
    query: MetricQuery,
    ...series,
  },
  queryCpuTarget: { ...notMeasured, path: '/v1/metrics/cpu-target', summary: 'Processor use that autoscaling aims at: not measured' },
  queryMemoryTarget: { ...notMeasured, path: '/v1/metrics/memory-target', summary: 'Memory use that autoscaling aims at: not measured' },
  queryActiveConnections: {
    ...common,
    path: '/v1/metrics/active-connections',
    summary: 'Connections of databases and key-value stores',
    description: "Clients' alone, without the platform's own. Services have none.",
    query: MetricQuery,
    ...series,
  },
  scrapeMetrics: {
    method: 'GET',
    path: '/metrics',
    access: 'metrics.read',
    tag: 'Metrics',
    summary: 'Metrics for Prometheus',
    description:
      'Of the services and datastores of the workspace; in the first workspace of the server, of the server itself as well. In the text format 0.0.4, or in OpenMetrics 1.0 where `Accept` asks for it.',
    responses: { 200: Type.String() },
    plain: true,
  },
})
