import { type InstanceMetricQuery, type MetricName, metricNames, type TimeSeries } from '../../../shared/metrics.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import { requireOwner } from '../../apps/owners/owners.ts'
import type { Actor, Handlers } from '../../http/handlers/call.ts'
import {
  datastoreSeries,
  latencySeries,
  nothing,
  requestsByClass,
  seriesOf,
  trafficSeries,
  usageValues,
} from '../../telemetry/metrics/values.ts'
import type { InsightContext } from '../context.ts'
import { scrape } from '../prometheus/scrape.ts'
import { visibleDatastores, visibleServices } from '../visible-services.ts'
import { answerDatastores, answerHistory, answerTraffic, answerUsage, type Question } from './answer.ts'
import { answerLag } from './lag.ts'
import { type RangeQuery, refused } from './rules.ts'
import { presentDatastoreUsage, presentUsage } from './service-usage.ts'

type MetricIds = Extract<
  keyof Operations,
  | 'listServiceUsage'
  | 'getServiceCpu'
  | 'getServiceMemory'
  | 'getMetricsHistory'
  | 'queryCpu'
  | 'queryMemory'
  | 'queryHttpRequests'
  | 'queryHttpLatency'
  | 'queryBandwidth'
  | 'queryInstanceCount'
  | 'queryCpuLimit'
  | 'queryMemoryLimit'
  | 'queryDiskUsage'
  | 'queryDiskCapacity'
  | 'queryReplicationLag'
  | 'queryCpuTarget'
  | 'queryMemoryTarget'
  | 'queryActiveConnections'
  | 'scrapeMetrics'
>

const DEFAULT_QUANTILE = '0.95'

export const metricRoutes: Handlers<MetricIds, InsightContext> = {
  listServiceUsage({ actor }, { db, metrics, now }) {
    const shown = { db, latest: metrics.latest(), datastores: metrics.datastores, nowMs: now() }
    const services = visibleServices(db, actor).map((service) => presentUsage(service, shown))
    const datastores = visibleDatastores(db, actor).map((datastore) => presentDatastoreUsage(datastore, shown))
    return [...services, ...datastores].toSorted((one, other) => one.name.localeCompare(other.name))
  },
  getServiceCpu: ({ actor, params }, context) => newest(context, requireOwner(context, actor, params.serviceId).id, 'cpu'),
  getServiceMemory: ({ actor, params }, context) => newest(context, requireOwner(context, actor, params.serviceId).id, 'memory'),
  getMetricsHistory({ actor, params, query }, context) {
    const { id } = requireOwner(context, actor, params.serviceId)
    const { metric, ...range } = query
    return answerHistory(context.metrics, { ...range, services: [id], nowMs: context.now() }, metric ?? metricNames)
  },
  queryCpu: ({ actor, query }, context) => usage(context, actor, { query, metric: 'cpu' }),
  queryMemory: ({ actor, query }, context) => usage(context, actor, { query, metric: 'memory' }),
  queryHttpRequests({ actor, query }, context) {
    const question = questionOf(context, actor, query)
    if (isByHostOrPath(query)) return []
    const series = query.aggregateBy === 'statusCode' ? requestsByClass : (trafficSeries['http-requests'] ?? nothing)
    return answerTraffic(context.metrics, question, series)
  },
  queryHttpLatency({ actor, query }, context) {
    const question = questionOf(context, actor, query)
    if (isByHostOrPath(query)) return []
    const quantiles = (query.quantile ?? [DEFAULT_QUANTILE]).map(Number)
    return answerTraffic(context.metrics, question, (labels, samples) =>
      [...new Set(quantiles)].flatMap((quantile) => latencySeries(labels, samples, quantile)),
    )
  },
  queryBandwidth: ({ actor, query }, context) => traffic(context, actor, { query, metric: 'bandwidth' }),
  queryInstanceCount: ({ actor, query }, context) => traffic(context, actor, { query, metric: 'instance-count' }),
  queryCpuLimit: ({ actor, query }, context) => traffic(context, actor, { query, metric: 'cpu-limit' }),
  queryMemoryLimit: ({ actor, query }, context) => traffic(context, actor, { query, metric: 'memory-limit' }),
  queryDiskUsage: ({ actor, query }, context) => usage(context, actor, { query, metric: 'disk-usage' }),
  queryDiskCapacity: ({ actor, query }, context) => usage(context, actor, { query, metric: 'disk-capacity' }),
  queryReplicationLag: ({ actor, query }, context) => answerLag(context.db, questionOf(context, actor, query)),
  queryCpuTarget: ({ actor, query }, context) => notMeasured(context, actor, query),
  queryMemoryTarget: ({ actor, query }, context) => notMeasured(context, actor, query),
  queryActiveConnections: ({ actor, query }, context) =>
    answerDatastores(context.metrics, questionOf(context, actor, query), datastoreSeries['active-connections'] ?? nothing),
  scrapeMetrics: ({ actor, request }, context) => scrape(context, actor, request.headers.get('accept')),
}

function newest({ metrics }: InsightContext, service: string, metric: MetricName): TimeSeries[] {
  const values = usageValues[metric]
  const instances = metrics.latest()?.services.get(service)?.instances ?? []
  if (values === undefined) return []
  return instances.flatMap(({ instance, sample }) => seriesOf({ resource: service, instance }, values.unit, [sample], values.valueOf))
}

interface Resources extends RangeQuery {
  resource?: string[]
  service?: string[]
}

interface Asked<Q> {
  query: Q
  metric: MetricName
}

function usage(
  context: InsightContext,
  actor: Actor,
  { query, metric }: Asked<Resources & Pick<InstanceMetricQuery, 'instance' | 'aggregationMethod'>>,
): TimeSeries[] {
  const { instance, aggregationMethod } = query
  const question = questionOf(context, actor, query)
  return answerUsage(context.metrics, {
    ...question,
    metric,
    ...(instance && { instances: instance }),
    ...(aggregationMethod && { method: aggregationMethod }),
  })
}

const traffic = (context: InsightContext, actor: Actor, { query, metric }: Asked<Resources>): TimeSeries[] =>
  answerTraffic(context.metrics, questionOf(context, actor, query), trafficSeries[metric] ?? nothing)

function questionOf(
  context: InsightContext,
  actor: Actor,
  { resource, service, startTime, endTime, resolutionSeconds }: Resources,
): Question {
  const named = [...new Set([...(resource ?? []), ...(service ?? [])])]
  if (named.length === 0) throw refused('resource', 'is required: the ids of up to 100 services, databases or key-value stores')
  const services = named.map((id) => requireOwner(context, actor, id).id)
  return {
    services,
    nowMs: context.now(),
    ...(startTime !== undefined && { startTime }),
    ...(endTime !== undefined && { endTime }),
    ...(resolutionSeconds !== undefined && { resolutionSeconds }),
  }
}

/** Requests are counted by service and status alone: GET /v1/logs?type=request finds those of a host or path. */
const isByHostOrPath = ({ host, path }: { host?: string[]; path?: string[] }): boolean => host !== undefined || path !== undefined

function notMeasured(context: InsightContext, actor: Actor, query: Resources): TimeSeries[] {
  questionOf(context, actor, query)
  return []
}
