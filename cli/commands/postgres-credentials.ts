import type { Command } from 'commander'
import { maxFormerHours, type PostgresCredential } from '../../shared/postgres-credentials.ts'
import { present } from '../base/present.ts'
import { tellTouched } from '../env-groups/touched.ts'
import { resolvePostgres } from '../finding/postgres.ts'
import { wholeNumber } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import { confirmByName } from '../session/prompt.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

interface RotateOptions {
  user?: string
  keepFor?: number
  deploy?: boolean
}

const details = `
The new user owns what the others own, and both can connect: give it to all who do (cpctl postgres info shows it), then delete the old one.`

export function addPostgresCredentialCommands(postgres: Command, start: Start): void {
  const credentials = postgres.command('credentials').alias('users').description('Users that a database is connected to as')
  const of = (name: string, description: string) => credentials.command(name).description(description).argument('<database>', 'Name or id')
  of('list', 'List the users of a database, without their passwords')
    .alias('ls')
    .action((name: string, _: unknown, command: Command) => list(start(command), name))
  of('rotate', 'Make another user, which connection strings name from then on')
    .alias('create')
    .option('--user <name>', "Its name; default: one made of the first user's")
    .option(
      '--keep-for <hours>',
      'End the other users so many hours from now; default: they stay until they are deleted',
      wholeNumber(0, maxFormerHours),
    )
    .option('--deploy', 'Deploy the services whose variables refer to the database, so that they connect as the new user')
    .addHelpText('after', details)
    .action((name: string, options: RotateOptions, command: Command) => rotate(start(command), name, options))
  of('delete', 'Delete a user and end its connections')
    .alias('rm')
    .argument('<user>', 'Its name')
    .option('-y, --yes', 'Do not ask')
    .action((name: string, user: string, { yes }: { yes?: boolean }, command: Command) =>
      remove(start(command), { name, user, isConfirmed: yes === true }),
    )
}

const columns: Column<PostgresCredential>[] = [
  { title: 'USER', value: ({ username }) => username, isFlexible: true, colour: () => 'bold' },
  { title: 'HANDED OUT', value: ({ default: isDefault }) => (isDefault ? 'yes' : '') },
  { title: 'CONNECTIONS', value: ({ openConnections }) => openConnections?.toString() ?? '-', align: 'right' },
  { title: 'ENDS', value: ({ expiresAt }) => expiresAt ?? '' },
  { title: 'CREATED', value: ({ createdAt }) => createdAt },
]

async function list(context: Context, name: string): Promise<void> {
  const { id } = await resolvePostgres(context, name)
  const page = await context.client.call('listPostgresCredentials', { params: { postgresId: id } })
  printList(context, { page, row: (item) => item, columns, empty: 'There are no users.' })
}

async function rotate(context: Context, nameOrId: string, { user, keepFor, deploy }: RotateOptions): Promise<void> {
  const { id, name } = await resolvePostgres(context, nameOrId)
  const body = present({ username: user, formerValidHours: keepFor })
  const made = await context.client.call('createPostgresCredential', { params: { postgresId: id }, query: present({ deploy }), body })
  if (!context.isJson) tellMade(context, { name, username: made.username, keepFor })
  await tellTouched(context, made, { none: 'No variable of a service refers to it.', ...present({ deploy }) })
}

interface Made {
  name: string
  username: string
  keepFor: number | undefined
}

function tellMade(context: Context, { name, username, keepFor }: Made): void {
  context.print(
    clean`${name} has the user ${username}, and connection strings name it from now on: cpctl postgres info ${name} shows them.`,
  )
  context.print(
    keepFor === undefined
      ? clean`The others can connect still. cpctl postgres credentials list ${name} shows them; delete those that nobody connects as any more.`
      : clean`The others can connect for ${keepFor} ${keepFor === 1 ? 'hour' : 'hours'}.`,
  )
}

async function remove(
  context: Context,
  { name: nameOrId, user, isConfirmed }: { name: string; user: string; isConfirmed: boolean },
): Promise<void> {
  const { id, name } = await resolvePostgres(context, nameOrId)
  await confirmByName(context, user, isConfirmed)
  await context.client.call('deletePostgresCredential', { params: { postgresId: id, username: user } })
  if (!context.isJson) context.print(clean`${user} cannot connect to ${name} any more.`)
}
