import type { Command } from 'commander'
import type { Health } from '../../shared/health.ts'
import type { KeyValue } from '../../shared/key-value.ts'
import type { Postgres } from '../../shared/postgres.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import { type Context, currentServer, type Start } from '../session/context.ts'
import { printTable } from '../session/output.ts'
import { type Column, formatFields } from '../terminal/table.ts'

export function addStatusCommand(program: Command, start: Start): void {
  program
    .command('status')
    .description('Show whether the server is well, and your databases')
    .action((_: unknown, command: Command) => status(start(command)))
}

const colours = { ok: 'green', degraded: 'yellow', down: 'red' } as const

interface Check {
  name: string
  status: keyof typeof colours
  message: string
}

const columns: Column<Check>[] = [
  { title: 'COMPONENT', value: ({ name }) => name },
  { title: 'STATUS', value: (check) => check.status, colour: (check) => colours[check.status] },
  { title: 'MESSAGE', value: ({ message }) => message, isFlexible: true },
]

async function status(context: Context): Promise<void> {
  const { url, credential } = await currentServer(context)
  const health = await context.client.call('health')
  const datastores = credential === undefined ? undefined : await datastoresSeen(context)
  if (context.isJson)
    context.printJson({ ...health, ...(datastores && { datastores: { count: datastores.length, unwell: unwellOf(datastores) } }) })
  else show(context, url, health)
  if (!context.isJson && datastores !== undefined) showDatastores(context, datastores)
  if (health.status === 'down') throw new CliError('unavailable', `${url} is down.`, { hint: 'Run cpd doctor on the server.' })
}

function show(context: Context, url: string, { status: state, version, checks }: Health): void {
  const { io, paint } = context
  io.stdout.write(
    formatFields(
      [
        ['Server', url],
        ['Version', version],
        ['Status', state],
      ],
      paint,
    ),
  )
  const rows = Object.entries(checks).map(([name, check]) => ({ name, status: check.status, message: check.message ?? '' }))
  if (rows.length === 0) return
  io.stdout.write('\n')
  printTable(context, columns, rows)
}

type Datastore = Postgres | KeyValue

async function datastoresSeen({ client }: Context): Promise<Datastore[] | undefined> {
  try {
    const databases = await allPages((query) => client.call('listPostgres', { query }))
    const stores = await allPages((query) => client.call('listKeyValue', { query }))
    return [...databases.map(({ postgres }) => postgres), ...stores.map(({ keyValue }) => keyValue)]
  } catch (error) {
    if (error instanceof CliError) return undefined
    throw error
  }
}

interface Unwell {
  name: string
  status: Datastore['status']
  problem: string
}

const disks: Record<Datastore['diskState'], string | undefined> = {
  ok: undefined,
  nearly_full: 'Its disk is nearly full.',
  full: 'Its disk is full: it takes no writes.',
}

const unwellOf = (datastores: readonly Datastore[]): Unwell[] =>
  datastores.flatMap(({ name, status, diskState, backupProblem }) => {
    const problems = [disks[diskState], backupProblem].filter((problem) => problem !== undefined)
    const isDown = status === 'unavailable' || status === 'recovery_failed'
    return isDown || problems.length > 0 ? [{ name, status, problem: problems.join(' ') }] : []
  })

const unwellColumns: Column<Unwell>[] = [
  { title: 'DATABASE', value: ({ name }) => name, colour: () => 'bold' },
  { title: 'STATUS', value: (one) => one.status, colour: (one) => (one.status === 'available' ? 'green' : 'red') },
  { title: 'MESSAGE', value: ({ problem }) => problem, isFlexible: true },
]

function showDatastores(context: Context, datastores: readonly Datastore[]): void {
  if (datastores.length === 0) return
  const unwell = unwellOf(datastores)
  const running = datastores.filter(({ status }) => status === 'available').length
  context.io.stdout.write('\n')
  const summary = `${datastores.length}, ${running} available, ${unwell.length === 0 ? 'all well' : `${unwell.length} not well`}`
  context.io.stdout.write(formatFields([['Databases', summary]], context.paint))
  if (unwell.length > 0) printTable(context, unwellColumns, unwell)
}
