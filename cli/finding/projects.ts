import { isId } from '../../shared/id.ts'
import { nearest } from '../../shared/nearest.ts'
import type { Project } from '../../shared/project.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'

type Asking = Pick<Context, 'client'>

export const projectsOf = async ({ client }: Asking): Promise<Project[]> =>
  (await allPages((query) => client.call('listProjects', { query }))).map(({ project }) => project)

export async function findProject(context: Asking, nameOrId: string): Promise<Project | undefined> {
  if (!isId('project', nameOrId)) return (await projectsOf(context)).find(({ name }) => name === nameOrId)
  return absentIfUnknown(context.client.call('getProject', { params: { projectId: nameOrId } }))
}

/** The project of this name or id. @throws CliError naming the nearest when there is none. */
export async function resolveProject(context: Asking, nameOrId: string): Promise<Project> {
  const project = await findProject(context, nameOrId)
  if (project !== undefined) return project
  const names = isId('project', nameOrId) ? [] : (await projectsOf(context)).map(({ name }) => name)
  throw new CliError('not_found', `There is no project ${nameOrId}.`, { hint: hintFor('projects', nearest(nameOrId, names)) })
}

export const hintFor = (list: 'projects' | 'environments', meant: string | undefined): string =>
  meant === undefined ? `cpctl ${list} list shows them.` : `Did you mean ${meant}? cpctl ${list} list shows all.`

/** What was asked for by its id; undefined where there is nothing of it that the caller may see. */
export async function absentIfUnknown<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof CliError && error.code === 'not_found') return undefined
    throw error
  }
}
