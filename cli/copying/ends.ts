import { isId } from '../../shared/id.ts'
import type { Environment, Project } from '../../shared/project.ts'
import { usageError } from '../base/error.ts'
import { environmentsOf, type Place, placeName, resolveEnvironment, splitPlace } from '../finding/environments.ts'
import { findProject, resolveProject } from '../finding/projects.ts'
import { linkOf, placeOfLink } from '../linking/linked.ts'
import type { Context } from '../session/context.ts'
import type { EnvironmentCopy } from './plan.ts'

export interface GivenEnds {
  source: string
  target: string
  project?: string | undefined
}

export interface Ends {
  project: { name: string; id: string | undefined }
  pairs: Omit<EnvironmentCopy, 'originals' | 'datastores'>[]
  wholeProject?: string
  from: string
  to: string
}

/** Reads what is named: two environments, or two whole projects. @throws CliError where that is not clear. */
export async function endsOf(context: Context, given: GivenEnds): Promise<Ends> {
  const { source, target } = given
  const isEnvironment = given.project !== undefined || source.includes('/') || isId('environment', source)
  const project = isEnvironment ? undefined : await findProject(context, source)
  if (project === undefined) return environmentEnds(context, await sourcePlace(context, given), target)
  if (target.includes('/'))
    throw usageError(`${source} is a project, and ${target} is an environment.`, 'Give two projects, or two environments.')
  return projectEnds(context, project, target)
}

/** A name that several projects have means the one that the folder is linked to. */
async function sourcePlace(context: Context, { source, project }: GivenEnds): Promise<Place> {
  if (project !== undefined || source.includes('/') || isId('environment', source)) return resolveEnvironment(context, source, project)
  const link = await linkOf(context, context.io.cwd)
  return resolveEnvironment(context, source, link && (await placeOfLink(context, link)).project.id)
}

async function environmentEnds(context: Context, source: Place, target: string): Promise<Ends> {
  const named = isId('environment', target) ? await resolveEnvironment(context, target) : undefined
  const words = named === undefined ? splitPlace(target, undefined) : { project: named.project.id, environment: named.environment.name }
  const project = words.project === undefined ? source.project : await projectToBe(context, words.project)
  const { environment: name } = words
  const existing = project.id === undefined ? undefined : (await environmentsOf(context, project.id)).find((held) => held.name === name)
  if (existing?.id === source.environment.id) throw usageError(`${placeName(source)} cannot be copied onto itself.`)
  const isRenamed = source.environment.name !== name
  return {
    project: { name: project.name, id: project.id },
    pairs: [pairOf(source.project, source.environment, { project: project.name, environment: name, existing })],
    from: isRenamed ? source.environment.name : source.project.name,
    to: isRenamed ? name : project.name,
  }
}

async function projectEnds(context: Context, source: Project, target: string): Promise<Ends> {
  const project = await projectToBe(context, target)
  if (project.id === source.id) throw usageError(`The project ${source.name} cannot be copied onto itself.`)
  const [own, there] = await Promise.all([
    environmentsOf(context, source.id),
    project.id === undefined ? [] : environmentsOf(context, project.id),
  ])
  const pairs = own.map((environment) => {
    const existing = there.find(({ name }) => name === environment.name)
    return pairOf(source, environment, { project: project.name, environment: environment.name, existing })
  })
  return { project: { name: project.name, id: project.id }, pairs, wholeProject: source.id, from: source.name, to: project.name }
}

/** The project of this name, which need not be there yet, or of this id, which must. */
async function projectToBe(context: Context, nameOrId: string): Promise<{ id: string | undefined; name: string }> {
  if (isId('project', nameOrId)) return resolveProject(context, nameOrId)
  return (await findProject(context, nameOrId)) ?? { id: undefined, name: nameOrId }
}

const pairOf = (
  project: Place['project'],
  environment: Environment,
  { existing, ...to }: EnvironmentCopy['to'] & { existing: Environment | undefined },
): Ends['pairs'][number] => ({ of: { project: project.name, environment }, to, existing })
