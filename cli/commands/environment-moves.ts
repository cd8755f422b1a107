import type { Command } from 'commander'
import type { Environment } from '../../shared/project.ts'
import { usageError } from '../base/error.ts'
import { orForce } from '../finding/broken-links.ts'
import { resolveGroup } from '../finding/env-groups.ts'
import { placeName, placesOf, resolveEnvironment } from '../finding/environments.ts'
import { resolveOwner } from '../finding/owner.ts'
import { gather } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { clean } from '../terminal/text.ts'

interface MoveOptions {
  envGroup?: string[]
  to?: string
  project?: string
  out?: boolean
  force?: boolean
}

interface Moved {
  id: string
  name: string
}

export function addMoveCommand(environments: Command, start: Start): void {
  environments
    .command('move')
    .description('Move services, databases and env groups into an environment, or out of the one they are in; what runs goes on running')
    .argument('[name...]', 'Names or ids of services, databases and key-value stores')
    .option('--env-group <group>', 'Env group to move as well, by name or id; several comma-joined or repeated', gather)
    .option('--to <environment>', 'Environment to move them into: name, id or project/environment')
    .option('--project <project>', 'Project of that environment, by name or id')
    .option('--out', 'Out of their environment, into none')
    .option('--force', 'Even where services are parted from what they use by it')
    .addHelpText('after', help)
    .action((names: string[], options: MoveOptions, command: Command) => move(start(command), names, options))
}

const help = `
Examples:
  $ cpctl environments move web worker --to shop/production
  $ cpctl environments move web orders-db --to shop/production
  $ cpctl environments move web --out`

async function move(context: Context, names: string[], options: MoveOptions): Promise<void> {
  const { to, project, out, force } = options
  if ((to === undefined) !== (out === true)) throw usageError('Say where to: give either --to <environment> or --out.')
  const resources = await resourcesNamed(context, names, options)
  if (resources.length === 0) throw usageError('Name the services and databases to move, or an env group with --env-group.')
  const query = force ? { force: true } : {}
  if (to === undefined) await moveOut(context, resources, query).catch(orForce)
  else await moveInto(context, resources, { to, project, query }).catch(orForce)
}

async function resourcesNamed(context: Context, names: readonly string[], { envGroup }: MoveOptions): Promise<Moved[]> {
  const resources: Moved[] = []
  for (const name of new Set(names)) resources.push(await resolveOwner(context, name))
  for (const name of new Set(envGroup)) resources.push(await resolveGroup(context, name))
  return resources
}

interface ForceQuery {
  force?: boolean
}

interface Into {
  to: string
  project: string | undefined
  query: ForceQuery
}

async function moveInto(context: Context, resources: readonly Moved[], { to, project, query }: Into): Promise<void> {
  const place = await resolveEnvironment(context, to, project)
  const environment = await context.client.call('addEnvironmentResources', {
    params: { environmentId: place.environment.id },
    query,
    body: { resourceIds: resources.map(({ id }) => id) },
  })
  if (context.isJson) return context.printJson(environment)
  context.print(clean`${namesOf(resources)} ${are(resources)} in ${placeName(place)} now.`)
}

async function moveOut(context: Context, resources: readonly Moved[], query: ForceQuery): Promise<void> {
  const places = await placesOf(context)
  const holding = places.map(({ environment }) => ({
    environmentId: environment.id,
    held: resources.filter(({ id }) => idsIn(environment).includes(id)),
  }))
  for (const { environmentId, held } of holding.filter((place) => place.held.length > 0)) {
    const resourceIds = held.map(({ id }) => id)
    await context.client.call('removeEnvironmentResources', { params: { environmentId }, query: { ...query, resourceIds } })
  }
  if (context.isJson) return context.printJson(resources.map(({ id, name }) => ({ id, name })))
  context.print(clean`${namesOf(resources)} ${are(resources)} in no environment now.`)
}

const idsIn = ({ serviceIds, envGroupIds, databasesIds, redisIds }: Environment): string[] => [
  ...serviceIds,
  ...envGroupIds,
  ...databasesIds,
  ...redisIds,
]

const namesOf = (resources: readonly Moved[]): string => resources.map(({ name }) => name).join(', ')

const are = (resources: readonly Moved[]): string => (resources.length === 1 ? 'is' : 'are')
