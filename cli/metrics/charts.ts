import type { Paint } from '../terminal/paint.ts'
import { type Column, formatTable } from '../terminal/table.ts'
import { plot } from './plot.ts'
import { byMetric, formatValue, type NamedSeries, summaryOf } from './series.ts'

export interface ChartSpace {
  width: number
  fromMs: number
  toMs: number
  paint: Paint
  /** Where lines cannot be told apart by colour, each has a chart of its own. */
  isColoured: boolean
}

const HEIGHT = 8
const MAX_WIDTH = 160
/** More lines than there are colours share a chart with nobody. */
const COLOURS = ['cyan', 'yellow', 'green', 'red'] as const
const MAX_CHARTS = 12
const MIN_JOINED_MS = 30_000

/** A chart for each metric, with the least, the average and the most of each line below it. */
export function chartsOf(series: readonly NamedSeries[], space: ChartSpace): string {
  return byMetric(series)
    .flatMap(([metric, lines]) => groups(lines, space.isColoured).map((group) => chartOf(metric, group, space)))
    .slice(0, MAX_CHARTS)
    .join('\n')
}

function groups(lines: readonly NamedSeries[], isColoured: boolean): NamedSeries[][] {
  const size = isColoured ? COLOURS.length : 1
  return Array.from({ length: Math.ceil(lines.length / size) }, (_, index) => lines.slice(index * size, (index + 1) * size))
}

function chartOf(metric: string, lines: readonly NamedSeries[], { fromMs, toMs, paint, width }: ChartSpace): string {
  const [first] = lines
  if (first === undefined) return ''
  const format = (value: number) => formatValue(first.unit, value)
  const drawn = plot(
    lines.map(({ points }, index) => ({ points, ...colourOf(index) })),
    { width: Math.min(width, MAX_WIDTH), height: HEIGHT, fromMs, toMs, joinedMs: joinedMs(lines), paint, format },
  )
  const legend = lines.map((line, index) => legendOf(line, paint[colourOf(index).colour]))
  return [paint.bold(metric), ...drawn, ...legend].map((text) => `${text}\n`).join('')
}

const colourOf = (index: number): { colour: (typeof COLOURS)[number] } => ({ colour: COLOURS[index % COLOURS.length] ?? 'cyan' })

function legendOf(line: NamedSeries, colour: (text: string) => string): string {
  const { min, average, max } = summaryOf(line)
  const [low, middle, high] = [min, average, max].map((value) => formatValue(line.unit, value))
  return `  ${colour('━')} ${line.name === '' ? '' : `${line.name}: `}min ${low}, avg ${middle}, max ${high}`
}

/** Two and a half times the usual distance of two points: a missing one is bridged, a gap is not. */
function joinedMs(lines: readonly NamedSeries[]): number {
  const distances = lines.flatMap(({ points }) => points.slice(1).map(({ atMs }, index) => atMs - (points[index]?.atMs ?? atMs)))
  const least = distances.reduce((smallest, distance) => Math.min(smallest, distance), Number.POSITIVE_INFINITY)
  return Number.isFinite(least) ? Math.max(MIN_JOINED_MS, least * 2.5) : MIN_JOINED_MS
}

/** Plain numbers for scripts: a line for each time, a column for each series. */
export function tableOf(series: readonly NamedSeries[], paint: Paint): string {
  const rows = new Map<number, Map<NamedSeries, number>>()
  for (const one of series) {
    for (const { atMs, value } of one.points) {
      const row = rows.get(atMs) ?? new Map<NamedSeries, number>()
      rows.set(atMs, row.set(one, value))
    }
  }
  const time: Column<[number, Map<NamedSeries, number>]> = { title: 'TIME', value: ([atMs]) => new Date(atMs).toISOString() }
  const columns = series.map((one): typeof time => ({
    title: [one.metric, one.name].filter((part) => part !== '').join('/'),
    value: ([, values]) => String(values.get(one) ?? '-'),
    align: 'right',
  }))
  return formatTable(
    [time, ...columns],
    [...rows].toSorted(([one], [other]) => one - other),
    { paint },
  )
}
