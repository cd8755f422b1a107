import { type Command, Option } from 'commander'
import { type Log, type LogLevel, type LogType, logLevels, logTypes } from '../../shared/log.ts'
import type { Client } from '../api/client.ts'
import { present } from '../base/present.ts'
import { resolveOwner } from '../finding/owner.ts'
import { addServiceOption, type OfService, serviceNamed } from '../finding/service.ts'
import { followLogs } from '../logs/follow.ts'
import { lastLogs, logsSince } from '../logs/history.ts'
import { formatLog, labelOf, storyOf } from '../logs/line.ts'
import { createSeen, type Seen } from '../logs/seen.ts'
import { gather, gatherOf, gatherWhole, timeBefore, wholeNumber } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { cleanJsonLine } from '../terminal/text.ts'

export const DEFAULT_LINES = 100
const MAX_LINES = 1_000_000
const BEGINNING = '1970-01-01T00:00:00.000Z'

interface LogsOptions extends OfService {
  follow?: boolean
  since?: string
  until?: string
  search?: string[]
  type?: LogType[]
  instance?: string[]
  level?: LogLevel[]
  host?: string[]
  method?: string[]
  status?: string[]
  path?: string[]
  lines?: number
}

export function addLogsCommand(program: Command, start: Start): void {
  const time = timeBefore(Date.now)
  addServiceOption(program.command('logs'))
    .description('Show what a service or database wrote, and follow it')
    .argument('[service]', 'Name or id, also of a database or key-value store; default: the one named after this folder')
    .option('-f, --follow', 'Go on with new lines as they come')
    .option('--since <time>', 'From then on: 5m, 2h, 1d or a time', time)
    .addOption(new Option('--until <time>', 'Up to then').argParser(time).conflicts('follow'))
    .option('--search <words>', 'Only lines with these words; may be repeated', gatherWhole)
    .option('--type <types>', `Only lines of these types: ${logTypes.join(', ')} (default: all but requests)`, gatherOf(logTypes))
    .option('--instance <ids>', 'Only lines of these instances', gather)
    .option('--level <levels>', `Only lines of these levels: ${logLevels.join(', ')}`, gatherOf(logLevels))
    .option('--method <methods>', 'Only requests of these methods', gather)
    .option('--status <codes>', 'Only requests answered with these, 5* for a class', gather)
    .option('--path <paths>', 'Only requests for these paths; * stands for any characters', gatherWhole)
    .option('--host <names>', 'Only requests for these hosts', gather)
    .option(
      '-n, --lines <count>',
      `How many of the newest lines (default: ${DEFAULT_LINES}, or all with --since)`,
      wholeNumber(0, MAX_LINES),
    )
    .action((name: string | undefined, options: LogsOptions, command: Command) => logs(start(command), name, options))
}

async function logs(context: Context, name: string | undefined, options: LogsOptions): Promise<void> {
  const { client, io } = context
  const owner = await resolveOwner(context, serviceNamed(name, options))
  const { search: text, instance, level, since: startTime, until: endTime } = options
  const filters = { resource: [owner.id], ...present({ text, instance, level }), ...requestFilters(options) }
  const isWanted = isOfTypes(options.type)
  const show = (log: Log) => {
    if (isWanted(log)) context.print(context.isJson ? cleanJsonLine(log) : formatLog(log, context.paint))
  }
  const bounded = { ...filters, ...present({ startTime, endTime }) }
  const seen =
    startTime !== undefined && options.lines === undefined
      ? await showSince(client, { ...bounded, startTime }, show)
      : await showLast(client, { filters: bounded, count: options.lines ?? DEFAULT_LINES, isWanted, show })
  if (!options.follow) return
  const onLost = () => context.note('The connection was lost; reconnecting …')
  await followLogs({ client, filters, seen, onLog: show, onLost, signal: io.interrupted })
  io.interrupted.throwIfAborted()
}

/** Requests are many: they are shown when asked for, or when only they can be meant. */
function requestFilters({ type, host, method, status: statusCode, path }: LogsOptions) {
  const labels = present({ host, method, statusCode, path })
  if (type !== undefined) return { ...labels, type: withRemarks(type) }
  return Object.keys(labels).length > 0 ? labels : { type: logTypes.filter((one) => one !== 'request') }
}

/** What the platform remarks among lines of a type is part of what they tell. */
const withRemarks = (types: LogType[]): LogType[] =>
  types.includes('platform') || !types.some((type) => type === 'app' || type === 'build') ? types : [...types, 'platform']

function isOfTypes(types: readonly string[] | undefined): (log: Log) => boolean {
  if (types === undefined || types.includes('platform')) return () => true
  return (log) => labelOf(log, 'type') !== 'platform' || types.includes(storyOf(log) ?? '')
}

type Filters = Parameters<typeof lastLogs>[1]

async function showSince(client: Client, filters: Filters & { startTime: string }, show: (log: Log) => void): Promise<Seen> {
  const seen = createSeen(filters.startTime)
  for await (const log of logsSince(client, filters)) if (seen.isNew(log)) show(log)
  return seen
}

interface Last {
  filters: Filters
  count: number
  isWanted: (log: Log) => boolean
  show: (log: Log) => void
}

/** Following goes on from the oldest line that was asked for: those before it were not wanted. At least one line is read, to know where that is. */
async function showLast(client: Client, { filters, count, isWanted, show }: Last): Promise<Seen> {
  const newest = await lastLogs(client, filters, { count: Math.max(1, count), isWanted })
  const isCut = newest.length >= Math.max(1, count)
  const seen = createSeen((isCut ? newest[0]?.timestamp : filters.startTime) ?? BEGINNING)
  for (const log of newest) if (seen.isNew(log) && count > 0) show(log)
  return seen
}
