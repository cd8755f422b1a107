import type { AggregationMethod, MetricName, TimeSeries } from '../../../shared/metrics.ts'
import type { DatastoreSample } from '../../telemetry/metrics/datastore-samples.ts'
import { datastoreKind, trafficKind, usageKind } from '../../telemetry/metrics/kinds.ts'
import type { Metrics, SamplesQuery } from '../../telemetry/metrics/metrics.ts'
import type { TrafficSample } from '../../telemetry/metrics/samples.ts'
import { aggregate, datastoreSeries, seriesOf, trafficSeries, usageValues } from '../../telemetry/metrics/values.ts'
import { joinSteps, type Plan, planQuery, type RangeQuery, refused } from './rules.ts'

export interface Question extends RangeQuery {
  services: readonly string[]
  nowMs: number
}

export type Labels = Record<string, string>

export interface UsageQuestion extends Question {
  metric: MetricName
  instances?: readonly string[]
  method?: AggregationMethod
}

/** Processor or memory use by instance; by service where that is all that is kept. */
export function answerUsage(metrics: Metrics, question: UsageQuestion): TimeSeries[] {
  const { metric, instances, method } = question
  const values = usageValues[metric]
  if (values === undefined) return []
  const isShared = values.isShared === true
  const plan = planQuery(question, { nowMs: question.nowMs, services: question.services.length, isByInstance: !isShared })
  const isByService = isShared || plan.level.isByServiceOnly
  if (plan.level.isByServiceOnly && (instances !== undefined || method !== undefined)) {
    throw refused('startTime', 'is more than 30 days ago: of that time the use of single instances is not kept')
  }
  const found = isByService ? metrics.usageOfServices(rangeOf(plan, question)) : metrics.usageOfInstances(rangeOf(plan, question))
  const series = found
    .filter(({ instance }) => instances === undefined || instances.includes(instance))
    .map(({ service, instance, samples }) => {
      const labels = instance === '' ? { resource: service } : { resource: service, instance }
      const joined = joinSteps(samples, plan.step, usageKind.join)
      return { service, series: seriesOf(labels, values.unit, joined, method === 'MAX' ? values.peakOf : values.valueOf) }
    })
  if (method === undefined) return found.length === 0 ? [] : series.flatMap((one) => one.series)
  return question.services.flatMap((service) => {
    const own = series.filter((one) => one.service === service).flatMap((one) => one.series)
    return aggregate(own, { resource: service }, method)
  })
}

export function answerTraffic(
  metrics: Metrics,
  question: Question,
  present: (labels: Labels, samples: readonly TrafficSample[]) => TimeSeries[],
): TimeSeries[] {
  const plan = planQuery(question, { nowMs: question.nowMs, services: question.services.length, isByInstance: false })
  return metrics
    .trafficOf(rangeOf(plan, question))
    .flatMap(({ service, samples }) => present({ resource: service }, joinSteps(samples, plan.step, trafficKind.join)))
}

export function answerDatastores(
  metrics: Metrics,
  question: Question,
  present: (labels: Labels, samples: readonly DatastoreSample[]) => TimeSeries[],
): TimeSeries[] {
  const plan = planQuery(question, { nowMs: question.nowMs, services: question.services.length, isByInstance: false })
  return metrics
    .datastoresOf(rangeOf(plan, question))
    .flatMap(({ service, samples }) => present({ resource: service }, joinSteps(samples, plan.step, datastoreKind.join)))
}

export function answerHistory(metrics: Metrics, question: Question, names: readonly MetricName[]): TimeSeries[] {
  const wanted = [...new Set(names)]
  const usage = wanted.flatMap((metric) => answerUsage(metrics, { ...question, metric }).map((one) => named(metric, one)))
  const traffic = presentersIn(wanted, trafficSeries)
  const datastores = presentersIn(wanted, datastoreSeries)
  const asked = traffic === undefined ? [] : answerTraffic(metrics, question, traffic)
  const told = datastores === undefined ? [] : answerDatastores(metrics, question, datastores)
  const places = new Map<string, number>(wanted.map((metric, place) => [metric, place]))
  const placeOf = ({ labels }: TimeSeries): number => places.get(labels[0]?.value ?? '') ?? 0
  return [...usage, ...asked, ...told].toSorted((one, other) => placeOf(one) - placeOf(other))
}

type Presenter<S> = (labels: Labels, samples: readonly S[]) => TimeSeries[]

/** All that is wanted of one kind of samples, so that they are read once; undefined where none is. */
function presentersIn<S>(wanted: readonly MetricName[], table: Partial<Record<MetricName, Presenter<S>>>): Presenter<S> | undefined {
  const found = wanted.flatMap((metric) => {
    const present = table[metric]
    return present === undefined ? [] : [{ metric, present }]
  })
  if (found.length === 0) return undefined
  return (labels, samples) => found.flatMap(({ metric, present }) => present(labels, samples).map((one) => named(metric, one)))
}

const named = (metric: MetricName, series: TimeSeries): TimeSeries => ({
  ...series,
  labels: [{ field: 'metric', value: metric }, ...series.labels],
})

const rangeOf = ({ level, start, end }: Plan, { services }: Question): SamplesQuery => ({ services, level, start, end })
