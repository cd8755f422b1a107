import { type Command, InvalidArgumentError } from 'commander'
import { parseDuration } from '../../shared/duration.ts'
import { isId } from '../../shared/id.ts'
import { type MetricName, metricNames } from '../../shared/metrics.ts'
import { present } from '../base/present.ts'
import { resolveOwner } from '../finding/owner.ts'
import { chartsOf, tableOf } from '../metrics/charts.ts'
import { nameSeries } from '../metrics/series.ts'
import { gatherOf, timeBefore } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { clean } from '../terminal/text.ts'

const DEFAULT_METRICS: MetricName[] = ['cpu', 'memory', 'http-requests', 'http-latency']
const DEFAULT_SINCE_MS = 60 * 60_000

interface MetricsOptions {
  metric?: MetricName[]
  since?: string
  until?: string
  resolution?: number
}

export function addMetricsCommand(program: Command, start: Start): void {
  const time = timeBefore(Date.now)
  program
    .command('metrics')
    .description('Show what a service or database used over time, and the requests it got')
    .argument('[service]', 'Name or id, also of a database or key-value store; default: the one named after this folder')
    .option('--metric <names>', `Some of ${metricNames.join(', ')} (default: ${DEFAULT_METRICS.join(', ')})`, gatherOf(metricNames))
    .option('--since <time>', 'From then on: 1h, 7d or a time (default: 1h)', time)
    .option('--until <time>', 'Up to then', time)
    .option('--resolution <length>', 'Length of a step, such as 1m; rounded up to what is kept of that time', secondsOf)
    .action((name: string | undefined, options: MetricsOptions, command: Command) => metrics(start(command), name, options))
}

async function metrics(context: Context, name: string | undefined, options: MetricsOptions): Promise<void> {
  const { client, io } = context
  const owner = await resolveOwner(context, name)
  const toMs = options.until === undefined ? io.now() : Date.parse(options.until)
  const fromMs = options.since === undefined ? toMs - DEFAULT_SINCE_MS : Date.parse(options.since)
  const range = { startTime: new Date(fromMs).toISOString(), endTime: new Date(toMs).toISOString() }
  const query = { ...range, ...present({ resolutionSeconds: options.resolution }), metric: options.metric ?? defaultMetricsOf(owner.id) }
  const history = await client.call('getMetricsHistory', { params: { serviceId: owner.id }, query })
  if (context.isJson) return context.printJson(history)
  if (history.length === 0) return context.note(clean`Nothing was measured of ${owner.name} in this time.`)
  const series = history.map(nameSeries)
  if (!io.stdout.isTty) return io.stdout.write(tableOf(series, context.paint))
  const space = { width: io.stdout.columns, fromMs, toMs, paint: context.paint, isColoured: !context.settings.isColourRefused }
  io.stdout.write(chartsOf(series, space))
}

function defaultMetricsOf(id: string): MetricName[] {
  if (isId('postgres', id)) return ['cpu', 'memory', 'disk-usage', 'active-connections', 'operations']
  if (isId('keyValue', id)) return ['cpu', 'used-memory', 'keys', 'cache-hits', 'evictions', 'active-connections', 'operations']
  return DEFAULT_METRICS
}

function secondsOf(text: string): number {
  const seconds = /^\d{1,8}$/.test(text) ? Number(text) : (parseDuration(text) ?? 0) / 1000
  if (seconds < 1) throw new InvalidArgumentError('Give a length of time such as 10s, 1m or 1h.')
  return seconds
}
