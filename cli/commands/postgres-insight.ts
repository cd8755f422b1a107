import { type Command, Option } from 'commander'
import {
  type PostgresConnection,
  type PostgresLock,
  type PostgresStatement,
  type PostgresTable,
  type QueryOrder,
  queryOrders,
} from '../../shared/postgres-insight.ts'
import { formatSize, formatTook } from '../base/figures.ts'
import { resolvePostgres } from '../finding/postgres.ts'
import { wholeNumber } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList, printTable } from '../session/output.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

const MOST_PID = 2 ** 31 - 1

export function addPostgresInsightCommands(postgres: Command, start: Start): void {
  const of = (name: string, description: string) => postgres.command(name).description(description).argument('<database>', 'Name or id')
  of('top', 'Show the connections of a database and what each does now')
    .alias('connections')
    .action((name: string, _: unknown, command: Command) => top(start(command), name))
  of('queries', 'Show the statements that took most time, or were called most')
    .addOption(new Option('--sort <order>', 'What comes first').choices(queryOrders).default('total'))
    .action((name: string, { sort }: { sort: QueryOrder }, command: Command) => queries(start(command), name, sort))
  of('locks', 'Show who waits for a lock, and for whom').action((name: string, _: unknown, command: Command) => locks(start(command), name))
  of('bloat', 'Show the largest tables and how much of them is dead').action((name: string, _: unknown, command: Command) =>
    bloat(start(command), name),
  )
  of('kill', 'Cancel what a connection runs; with --terminate, end the connection')
    .argument('<pid>', 'Its number, as top and locks show it', wholeNumber(1, MOST_PID))
    .option('--terminate', 'End the connection, too: its transaction is undone')
    .action((name: string, pid: number, { terminate }: { terminate?: boolean }, command: Command) =>
      kill(start(command), name, { pid, terminate: terminate === true }),
    )
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
const lasting = (ms: number | null): string => (ms === null ? '' : formatTook(ms))
const percent = (ratio: number | null): string => (ratio === null ? '-' : `${(ratio * 100).toFixed(1)} %`)
const params = async (context: Context, name: string) => ({ postgresId: (await resolvePostgres(context, name)).id })

const connectionColumns: Column<PostgresConnection>[] = [
  { title: 'PID', value: ({ pid }) => String(pid), align: 'right' },
  { title: 'USER', value: ({ user }) => user ?? '' },
  { title: 'APPLICATION', value: ({ application }) => application },
  { title: 'STATE', value: ({ state }) => state ?? '', colour: ({ state }) => (state?.startsWith('idle in') ? 'yellow' : undefined) },
  { title: 'FOR', value: ({ stateMs }) => lasting(stateMs), align: 'right' },
  { title: 'WAITS FOR', value: ({ waitsFor }) => waitsFor ?? '' },
  { title: 'QUERY', value: ({ query }) => oneLine(query), isFlexible: true },
]

async function top(context: Context, name: string): Promise<void> {
  const found = await context.client.call('getPostgresConnections', { params: await params(context, name) })
  if (context.isJson) return context.printJson(found)
  const { open, limit, cacheHitRatio, connections } = found
  context.print(`${open} of ${limit} connections, ${percent(cacheHitRatio)} of the pages found in memory`)
  if (connections.length > 0) printTable(context, connectionColumns, connections)
}

const statementColumns: Column<PostgresStatement>[] = [
  { title: 'CALLS', value: ({ calls }) => String(calls), align: 'right' },
  { title: 'TOTAL', value: ({ totalMs }) => lasting(totalMs), align: 'right' },
  { title: 'MEAN', value: ({ meanMs }) => lasting(meanMs), align: 'right' },
  { title: 'MOST', value: ({ maxMs }) => lasting(maxMs), align: 'right' },
  { title: 'ROWS', value: ({ rows }) => String(rows), align: 'right' },
  { title: 'IN MEMORY', value: ({ cacheHitRatio }) => percent(cacheHitRatio), align: 'right' },
  { title: 'QUERY', value: ({ query }) => oneLine(query), isFlexible: true },
]

async function queries(context: Context, name: string, order: QueryOrder): Promise<void> {
  const page = await context.client.call('listPostgresQueries', { params: await params(context, name), query: { order } })
  printList(context, { page, row: (item) => item, columns: statementColumns, empty: 'Nothing was run yet.' })
}

const lockColumns: Column<PostgresLock>[] = [
  { title: 'PID', value: ({ pid }) => String(pid), align: 'right' },
  { title: 'USER', value: ({ user }) => user ?? '' },
  { title: 'WAITS', value: ({ waitMs }) => lasting(waitMs), align: 'right' },
  { title: 'LOCK', value: ({ lock, relation }) => (relation === null ? lock : `${lock} ${relation}`) },
  { title: 'BLOCKED BY', value: ({ blockedBy }) => blockedBy.map(({ pid, state }) => `${pid} (${state ?? 'unknown'})`).join(', ') },
  { title: 'QUERY', value: ({ query }) => oneLine(query), isFlexible: true },
]

async function locks(context: Context, name: string): Promise<void> {
  const page = await context.client.call('listPostgresLocks', { params: await params(context, name) })
  printList(context, { page, row: (item) => item, columns: lockColumns, empty: 'Nobody waits for a lock.' })
}

const tableColumns: Column<PostgresTable>[] = [
  { title: 'TABLE', value: ({ schema, table }) => `${schema}.${table}`, isFlexible: true, colour: () => 'bold' },
  { title: 'SIZE', value: ({ sizeBytes }) => formatSize(sizeBytes), align: 'right' },
  { title: 'INDEXES', value: ({ indexBytes }) => formatSize(indexBytes), align: 'right' },
  { title: 'ROWS', value: ({ liveRows }) => String(liveRows), align: 'right' },
  { title: 'DEAD', value: ({ deadRatio }) => percent(deadRatio), align: 'right' },
  { title: 'VACUUMED', value: ({ vacuumedAt }) => vacuumedAt ?? 'never' },
]

async function bloat(context: Context, name: string): Promise<void> {
  const page = await context.client.call('listPostgresBloat', { params: await params(context, name) })
  printList(context, { page, row: (item) => item, columns: tableColumns, empty: 'There are no tables yet.' })
}

async function kill(context: Context, name: string, { pid, terminate }: { pid: number; terminate: boolean }): Promise<void> {
  const { postgresId } = await params(context, name)
  await context.client.call('cancelPostgresQuery', { params: { postgresId, pid: String(pid) }, body: { terminate } })
  if (!context.isJson) context.print(clean`Asked ${name} to ${terminate ? 'end' : 'cancel what runs in'} connection ${pid}.`)
}
