import type { Command } from 'commander'
import { usageError } from '../base/error.ts'
import { orForce } from '../finding/broken-links.ts'
import { resolveGroup } from '../finding/env-groups.ts'
import { placeName, placesOf, resolveEnvironment } from '../finding/environments.ts'
import { resolveService } from '../finding/service.ts'
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
    .description('Move services and env groups into an environment, or out of the one they are in; services go on running')
    .argument('[service...]', 'Names or ids')
    .option('--env-group <group>', 'Env group to move as well, by name or id; several comma-joined or repeated', gather)
    .option('--to <environment>', 'Environment to move them into: name, id or project/environment')
    .option('--project <project>', 'Project of that environment, by name or id')
    .option('--out', 'Out of their environment, into none')
    .option('--force', 'Even where services that use each other are parted by it')
    .addHelpText('after', '\nExamples:\n  $ cpctl environments move web worker --to shop/production\n  $ cpctl environments move web --out')
    .action((names: string[], options: MoveOptions, command: Command) => move(start(command), names, options))
}

async function move(context: Context, names: string[], options: MoveOptions): Promise<void> {
  const { to, project, out, force } = options
  if ((to === undefined) !== (out === true)) throw usageError('Say where to: give either --to <environment> or --out.')
  const resources: Moved[] = []
  for (const name of new Set(names)) resources.push(await resolveService(context, name))
  for (const name of new Set(options.envGroup)) resources.push(await resolveGroup(context, name))
  if (resources.length === 0) throw usageError('Name the services to move, or an env group with --env-group.')
  const query = force ? { force: true } : {}
  if (to === undefined) await moveOut(context, resources, query).catch(orForce)
  else await moveInto(context, resources, { to, project, query }).catch(orForce)
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
    held: resources.filter(({ id }) => environment.serviceIds.includes(id) || environment.envGroupIds.includes(id)),
  }))
  for (const { environmentId, held } of holding.filter((place) => place.held.length > 0)) {
    const resourceIds = held.map(({ id }) => id)
    await context.client.call('removeEnvironmentResources', { params: { environmentId }, query: { ...query, resourceIds } })
  }
  if (context.isJson) return context.printJson(resources.map(({ id, name }) => ({ id, name })))
  context.print(clean`${namesOf(resources)} ${are(resources)} in no environment now.`)
}

const namesOf = (resources: readonly Moved[]): string => resources.map(({ name }) => name).join(', ')

const are = (resources: readonly Moved[]): string => (resources.length === 1 ? 'is' : 'are')
