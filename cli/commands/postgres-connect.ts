import { basename } from 'node:path'
import type { Command } from 'commander'
import { environment } from '../base/config.ts'
import { CliError, Interrupted, RemoteExit } from '../base/error.ts'
import { resolvePostgres } from '../finding/postgres.ts'
import { wholeNumber } from '../options/values.ts'
import { type Destination, prompt } from '../postgres/prompt.ts'
import { openTunnel, type Tunnel } from '../postgres/tunnel.ts'
import { untilAvailable } from '../postgres/until-available.ts'
import type { Context, Start } from '../session/context.ts'
import { clean } from '../terminal/text.ts'

const MOST_PORT = 65_535

interface PsqlOptions {
  command?: string
  builtIn?: boolean
}

const details = `
It goes through the API, so the database needs no way in from outside. Words after -- are given to psql. Without psql on this machine,
or with --built-in or --json, cpctl has a prompt of its own.

Examples:
  $ cpctl postgres psql shop
  $ cpctl postgres psql shop -c 'SELECT count(*) FROM orders'
  $ cpctl postgres psql shop < schema.sql`

export function addPostgresConnectCommands(postgres: Command, start: Start): void {
  const of = (name: string, description: string) => postgres.command(name).description(description).argument('<database>', 'Name or id')
  of('psql', 'Type SQL to a database')
    .argument('[words...]', 'More for psql, after --')
    .option('-c, --command <sql>', 'Run this in place of a prompt')
    .option('--built-in', 'Use no psql of this machine')
    .addHelpText('after', details)
    .action((name: string, words: string[], options: PsqlOptions, command: Command) => psql(start(command), name, { words, ...options }))
  of('pgcli', 'Type SQL to a database in pgcli, which this machine has to have')
    .argument('[words...]', 'More for pgcli, after --')
    .action((name: string, words: string[], _: unknown, command: Command) => pgcli(start(command), name, words))
  of('tunnel', 'Have programs of this machine connect to a database at a port of 127.0.0.1')
    .option('--port <port>', 'Which; default: any that is free', wholeNumber(1, MOST_PORT))
    .addHelpText('after', '\nIt goes on until Ctrl-C. pg_dump, pg_restore and programs with windows connect there.')
    .action((name: string, { port }: { port?: number }, command: Command) => tunnel(start(command), name, port ?? 0))
}

async function psql(context: Context, nameOrId: string, { words, command, builtIn }: PsqlOptions & { words: string[] }): Promise<void> {
  const program = builtIn === true || context.isJson ? undefined : (Bun.which('psql') ?? undefined)
  await through(context, nameOrId, 0, async (to) => {
    if (program === undefined) return await prompt(context, to, command)
    await runClient(program, to, [...(command === undefined ? [] : ['-c', command]), ...words])
  })
}

async function pgcli(context: Context, nameOrId: string, words: readonly string[]): Promise<void> {
  const program = Bun.which('pgcli', { PATH: context.io.env.PATH ?? '' })
  const hint = 'Install it (pipx install pgcli), or use cpctl postgres psql.'
  if (program === null) throw new CliError('not_configured', 'This machine has no pgcli.', { hint })
  await through(context, nameOrId, 0, (to) => runClient(program, to, words))
}

async function tunnel(context: Context, nameOrId: string, port: number): Promise<void> {
  await through(context, nameOrId, port, async (to) => {
    const url = `postgresql://${to.user}:${to.password}@${to.host}:${to.port}/${to.database}?sslmode=disable`
    if (context.isJson) context.printJson({ url })
    else context.print(clean`${url}\nCtrl-C ends it.`)
    const { interrupted } = context.io
    if (!interrupted.aborted) await new Promise((resolve) => interrupted.addEventListener('abort', resolve, { once: true }))
    throw new Interrupted()
  })
}

async function through(context: Context, nameOrId: string, port: number, use: (to: Destination) => Promise<void>): Promise<void> {
  const found = await resolvePostgres(context, nameOrId)
  const { id, name, status, databaseName: database } = await untilAvailable(context, found)
  if (status !== 'available')
    throw new CliError('conflict', clean`${name} is ${status}.`, {
      ...(status === 'suspended' && { hint: clean`cpctl postgres resume ${name} starts it.` }),
    })
  const info = await context.client.call('getPostgresConnectionInfo', { params: { postgresId: id } })
  const { username: user, password } = new URL(info.internalConnectionString)
  const onProblem = (reason: string) => context.note(clean`${reason}`)
  const opened = await openTunnel(context, { postgresId: id, port, onProblem }).catch((): Tunnel => {
    throw new CliError('unavailable', `Port ${port} of this machine is taken.`, { hint: 'Give another with --port.' })
  })
  try {
    await use({ host: '127.0.0.1', port: opened.port, user, password, database })
  } finally {
    opened.close()
  }
}

/** Hands the terminal to a client, which has the password in its environment, where other users do not see it. @throws RemoteExit with its exit code. */
async function runClient(program: string, { host, port, user, password, database }: Destination, words: readonly string[]): Promise<void> {
  const env = { ...environment(), PGPASSWORD: password, PGSSLMODE: 'disable', PGGSSENCMODE: 'disable', PGAPPNAME: basename(program) }
  const argv = [program, '-h', host, '-p', String(port), '-U', user, '-d', database, ...words]
  const child = Bun.spawn(argv, { env, stdio: ['inherit', 'inherit', 'inherit'] })
  // Ctrl-C is for the client, which cancels what it runs.
  const ignore = () => {}
  process.on('SIGINT', ignore)
  const exitCode = await child.exited.finally(() => process.off('SIGINT', ignore))
  if (exitCode !== 0) throw new RemoteExit({ exitCode, signal: null })
}
