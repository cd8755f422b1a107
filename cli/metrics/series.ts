import { type MetricUnit, metricNames, type TimeSeries } from '../../shared/metrics.ts'
import { formatSize } from '../base/figures.ts'
import { cleanText } from '../terminal/text.ts'

/** A series with what it is called, apart from the service it is of. */
export interface NamedSeries {
  metric: string
  /** Empty where a metric has one series only. */
  name: string
  unit: MetricUnit
  points: { atMs: number; value: number }[]
}

/** A series as the API sends it, with a name for people made of its labels. */
export function nameSeries({ labels, values, unit }: TimeSeries): NamedSeries {
  const label = (field: string) => labels.filter((one) => one.field === field).map(({ value }) => cleanText(value))[0]
  const quantile = label('quantile')
  const name =
    quantile === undefined ? (label('direction') ?? label('result') ?? shortId(label('instance') ?? '')) : `p${Number(quantile) * 100}`
  return {
    metric: label('metric') ?? '',
    name,
    unit,
    points: values.map(({ timestamp, value }) => ({ atMs: Date.parse(timestamp), value })),
  }
}

/** The last part of an instance's id, which tells it from its siblings; a job's id as it is. */
const shortId = (id: string): string => (/^(srv|crn|dpg|red)-/.test(id) ? id.slice(id.lastIndexOf('-') + 1) : id)

/** In the order of the metrics, then as they came. */
export const byMetric = (series: readonly NamedSeries[]): [metric: string, series: NamedSeries[]][] =>
  metricNames.flatMap((metric) => {
    const own = series.filter((one) => one.metric === metric)
    return own.length === 0 ? [] : [[metric, own] satisfies [string, NamedSeries[]]]
  })

export interface Summary {
  min: number
  average: number
  max: number
}

export function summaryOf({ points }: Pick<NamedSeries, 'points'>): Summary {
  const values = points.map(({ value }) => value)
  const sum = values.reduce((total, value) => total + value, 0)
  return { min: Math.min(...values), average: sum / Math.max(1, values.length), max: Math.max(...values) }
}

const units: Record<MetricUnit, (value: number) => string> = {
  cpu: (value) => `${round(value, value < 0.1 ? 3 : 2)} cpu`,
  bytes: (value) => formatSize(Math.round(value)),
  requests: (value) => round(value, value < 10 ? 1 : 0),
  ms: (value) => `${round(value, value < 10 ? 1 : 0)} ms`,
  instances: (value) => round(value, 1),
  connections: (value) => round(value, 1),
  keys: (value) => round(value, 1),
  lookups: (value) => round(value, 0),
  per_second: (value) => `${round(value, value < 10 ? 1 : 0)} /s`,
  seconds: (value) => `${round(value, 1)} s`,
}

export const formatValue = (unit: MetricUnit, value: number): string => units[unit](value)

const round = (value: number, digits: number): string => String(Number(value.toFixed(digits)))
