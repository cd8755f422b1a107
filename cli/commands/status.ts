import type { Command } from 'commander'
import type { Health } from '../../shared/health.ts'
import { CliError } from '../base/error.ts'
import { type Context, currentServer, type Start } from '../session/context.ts'
import { printTable } from '../session/output.ts'
import { type Column, formatFields } from '../terminal/table.ts'

export function addStatusCommand(program: Command, start: Start): void {
  program
    .command('status')
    .description('Show whether the server is well')
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
  const { url } = await currentServer(context)
  const health = await context.client.call('health')
  if (context.isJson) context.printJson(health)
  else show(context, url, health)
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
