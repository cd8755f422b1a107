import type { EnvGroup } from '../../shared/env-group.ts'
import { isId } from '../../shared/id.ts'
import type { KeyValue } from '../../shared/key-value.ts'
import { nearest } from '../../shared/nearest.ts'
import type { Postgres } from '../../shared/postgres.ts'
import type { Environment, Project } from '../../shared/project.ts'
import type { Service } from '../../shared/service.ts'
import { allPages } from '../api/pages.ts'
import { CliError, usageError } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import { absentIfUnknown, hintFor, projectsOf, resolveProject } from './projects.ts'

type Asking = Pick<Context, 'client'>

export interface Place {
  project: Pick<Project, 'id' | 'name'>
  environment: Environment
}

export const placeName = ({ project, environment }: Place): string => `${project.name}/${environment.name}`

export async function environmentsOf({ client }: Asking, projectId?: string): Promise<Environment[]> {
  const filter = projectId === undefined ? {} : { projectId: [projectId] }
  const all = await allPages((query) => client.call('listEnvironments', { query: { ...query, ...filter } }))
  return all.map(({ environment }) => environment).reverse()
}

export async function servicesIn({ client }: Asking, environmentId: string): Promise<Service[]> {
  const all = await allPages((query) => client.call('listServices', { query: { ...query, environmentId: [environmentId] } }))
  return all.map(({ service }) => service)
}

export async function groupsIn({ client }: Asking, environmentId: string): Promise<EnvGroup[]> {
  const all = await allPages((query) => client.call('listEnvGroups', { query: { ...query, environmentId: [environmentId] } }))
  return all.map(({ envGroup }) => envGroup)
}

export async function databasesIn({ client }: Asking, { id, databasesIds }: Environment): Promise<Postgres[]> {
  if (databasesIds.length === 0) return []
  const all = await allPages((query) => client.call('listPostgres', { query: { ...query, environmentId: [id] } }))
  return all.map(({ postgres }) => postgres)
}

export async function storesIn({ client }: Asking, { id, redisIds }: Environment): Promise<KeyValue[]> {
  if (redisIds.length === 0) return []
  const all = await allPages((query) => client.call('listKeyValue', { query: { ...query, environmentId: [id] } }))
  return all.map(({ keyValue }) => keyValue)
}

export async function placesOf(context: Asking): Promise<Place[]> {
  const [projects, environments] = await Promise.all([projectsOf(context), environmentsOf(context)])
  return environments.map((environment) => ({ environment, project: projectIn(projects, environment.projectId) }))
}

/** The project of an id. One that is not the caller's to see goes by its id. */
export const projectIn = (projects: readonly Project[], id: string): Place['project'] =>
  projects.find((project) => project.id === id) ?? { id, name: id }

/**
 * The environment of this name, id or `project/environment`. `within` names the project where the text does not.
 * @throws CliError when there is none, or several have the name.
 */
export async function resolveEnvironment(context: Asking, text: string, within?: string): Promise<Place> {
  if (isId('environment', text)) return byId(context, text, within)
  const named = splitPlace(text, within)
  const project = named.project === undefined ? undefined : await resolveProject(context, named.project)
  const all = await placesOf(context)
  const candidates = project === undefined ? all : all.filter((place) => place.environment.projectId === project.id)
  const found = candidates.filter(({ environment }) => environment.name === named.environment)
  const [place, ...others] = found
  if (place === undefined) throw noSuchEnvironment(named.environment, project, candidates)
  if (others.length > 0) throw severalNamed(named.environment, found)
  return place
}

/** An environment as people name it, or its id where the caller may not see it. */
export async function placeNameOf(context: Asking, environmentId: string): Promise<string> {
  const environment = await absentIfUnknown(context.client.call('getEnvironment', { params: { environmentId } }))
  if (environment === undefined) return environmentId
  return placeName({ environment, project: projectIn(await projectsOf(context), environment.projectId) })
}

/** The two names in `project/environment`. @throws CliError with the usage exit code when `within` names another project. */
export function splitPlace(text: string, within: string | undefined): { project: string | undefined; environment: string } {
  const [first = '', second, ...rest] = text.split('/')
  if (second === undefined) return { project: within, environment: text }
  if (first === '' || second === '' || rest.length > 0) throw usageError(`${text} is not project/environment.`, 'For example shop/staging.')
  if (within !== undefined && within !== first)
    throw usageError(`Two projects are named: ${first} and --project ${within}.`, 'Give one of the two.')
  return { project: first, environment: second }
}

async function byId(context: Asking, environmentId: string, within: string | undefined): Promise<Place> {
  const environment = await absentIfUnknown(context.client.call('getEnvironment', { params: { environmentId } }))
  if (environment === undefined)
    throw new CliError('not_found', `There is no environment ${environmentId}.`, { hint: hintFor('environments', undefined) })
  const project = projectIn(await projectsOf(context), environment.projectId)
  if (within !== undefined && within !== project.id && within !== project.name)
    throw usageError(`${environmentId} is in the project ${project.name}, not in ${within}.`, 'Leave out --project.')
  return { project, environment }
}

function noSuchEnvironment(name: string, project: Project | undefined, candidates: readonly Place[]): CliError {
  const where = project === undefined ? '' : ` in the project ${project.name}`
  const meant = nearest(
    name,
    candidates.map(({ environment }) => environment.name),
  )
  const place = candidates.find(({ environment }) => environment.name === meant)
  return new CliError('not_found', `There is no environment ${name}${where}.`, { hint: hintFor('environments', place && placeName(place)) })
}

const severalNamed = (name: string, found: readonly Place[]): CliError =>
  usageError(`There are ${found.length} environments named ${name}: ${found.map(placeName).join(', ')}.`, 'Name the project as well.')
