import type { ServiceUsage } from '../../shared/metrics.ts'
import { formatSize } from '../base/figures.ts'
import type { Paint } from '../terminal/paint.ts'
import { type Column, formatTable } from '../terminal/table.ts'

export const topOrders = ['cpu', 'memory', 'requests', 'name'] as const
export type TopOrder = (typeof topOrders)[number]

const orders: Record<TopOrder, (one: ServiceUsage, other: ServiceUsage) => number> = {
  cpu: (one, other) => (other.cpu ?? -1) - (one.cpu ?? -1),
  memory: (one, other) => (other.memoryBytes ?? -1) - (one.memoryBytes ?? -1),
  requests: (one, other) => (other.requestsPerSecond ?? -1) - (one.requestsPerSecond ?? -1),
  name: (one, other) => one.name.localeCompare(other.name),
}

/** The most first; equals by name. */
export const sortUsage = (rows: readonly ServiceUsage[], order: TopOrder): ServiceUsage[] =>
  rows.toSorted((one, other) => orders[order](one, other) || orders.name(one, other))

/** Below this share of a limit nothing is said; above the second one, it is said in red. */
const WARM_PERCENT = 75
const HOT_PERCENT = 90

const share = (used: number | null, limit: number | null): number | undefined =>
  used === null || limit === null || limit === 0 ? undefined : (used / limit) * 100
const percent = (value: number | undefined): string => (value === undefined ? '-' : `${Math.round(value)}%`)
const heat = (value: number | undefined): keyof Paint | undefined =>
  value === undefined || value < WARM_PERCENT ? undefined : value < HOT_PERCENT ? 'yellow' : 'red'
const number = (value: number | null, digits: number): string => (value === null ? '-' : value.toFixed(digits))

const cpuShare = ({ cpu, cpuLimit }: ServiceUsage) => share(cpu, cpuLimit)
const diskShare = ({ diskBytes, diskLimitBytes }: ServiceUsage) => share(diskBytes, diskLimitBytes)
const memoryShare = ({ memoryBytes, memoryLimitBytes }: ServiceUsage) => share(memoryBytes, memoryLimitBytes)

const colours: Partial<Record<ServiceUsage['state'], keyof Paint>> = {
  running: 'green',
  live: 'green',
  crash_looping: 'red',
  starting: 'yellow',
  stopped: 'yellow',
  asleep: 'dim',
  suspended: 'dim',
  not_deployed: 'dim',
}

/** With how dispensable each is: the highest goes first where there is no room. */
const columns: (Column<ServiceUsage> & { dispensable: number })[] = [
  { title: 'NAME', value: ({ name }) => name, isFlexible: true, colour: () => 'bold', dispensable: 0 },
  { title: 'STATE', value: ({ state }) => state.replace('_', ' '), colour: ({ state }) => colours[state], dispensable: 2 },
  { title: 'INST', value: ({ instances }) => String(instances), align: 'right', dispensable: 5 },
  { title: 'CPU', value: ({ cpu }) => number(cpu, 2), align: 'right', dispensable: 0 },
  { title: 'CPU%', value: (row) => percent(cpuShare(row)), align: 'right', colour: (row) => heat(cpuShare(row)), dispensable: 4 },
  { title: 'MEMORY', value: ({ memoryBytes }) => (memoryBytes === null ? '-' : formatSize(memoryBytes)), align: 'right', dispensable: 1 },
  { title: 'MEM%', value: (row) => percent(memoryShare(row)), align: 'right', colour: (row) => heat(memoryShare(row)), dispensable: 3 },
  {
    title: 'DISK%',
    value: (row) => percent(diskShare(row)),
    align: 'right',
    colour: (row) => heat(diskShare(row)),
    dispensable: 5,
  },
  {
    title: 'CONNS',
    value: ({ connections }) => (connections === null ? '-' : String(connections)),
    align: 'right',
    dispensable: 6,
  },
  { title: 'REQ/S', value: ({ requestsPerSecond }) => number(requestsPerSecond, 1), align: 'right', dispensable: 1 },
  {
    title: '5XX/S',
    value: ({ errorsPerSecond }) => number(errorsPerSecond, 1),
    align: 'right',
    colour: ({ errorsPerSecond }) => (errorsPerSecond ? 'red' : undefined),
    dispensable: 7,
  },
  {
    title: 'P95',
    value: ({ latencyP95Ms }) => (latencyP95Ms === null ? '-' : `${latencyP95Ms.toFixed(0)} ms`),
    align: 'right',
    dispensable: 6,
  },
]

const GAP = 2
const MIN_NAME = 8

/** The table, with as many of its columns as fit. */
export function topTable(rows: readonly ServiceUsage[], { paint, width }: { paint: Paint; width: number | undefined }): string {
  const shown = [...columns]
  const needed = () => shown.reduce((sum, column) => sum + GAP + widthOf(column, rows), -GAP)
  while (width !== undefined && needed() > width) {
    const least = shown.reduce((worst, column) => (column.dispensable > worst.dispensable ? column : worst))
    if (least.dispensable === 0) break
    shown.splice(shown.indexOf(least), 1)
  }
  return formatTable(shown, rows, { paint, ...(width !== undefined && { columns: width }) })
}

const widthOf = (column: Column<ServiceUsage>, rows: readonly ServiceUsage[]): number =>
  column.isFlexible ? MIN_NAME : Math.max(column.title.length, ...rows.map((row) => column.value(row).length))
