import type { Command } from 'commander'
import { usageError } from '../base/error.ts'
import { environmentsOf, type Place, placeName, resolveEnvironment } from '../finding/environments.ts'
import { resolveProject } from '../finding/projects.ts'
import { linkedPlace } from '../linking/linked.ts'
import type { Context } from '../session/context.ts'

export interface PlaceOptions {
  project?: string
  environment?: string
}

export const addPlaceFilter = (command: Command): Command =>
  command
    .option('--project <project>', 'Only what is in this project, by name or id')
    .option('--environment <environment>', 'Only what is in this environment: name, id or project/environment')

export const addPlaceOption = (command: Command): Command =>
  command
    .option('--environment <environment>', 'Environment to make it in: name, id or project/environment')
    .option('--project <project>', 'Project of that environment, by name or id; alone where it has only one')

/** The filter of a list that the options stand for. @throws CliError for a name that there is not. */
export async function placeFilter(
  context: Pick<Context, 'client'>,
  { project, environment }: PlaceOptions,
): Promise<{ environmentId?: string[]; projectId?: string[] }> {
  if (environment !== undefined) return { environmentId: [(await resolveEnvironment(context, environment, project)).environment.id] }
  return project === undefined ? {} : { projectId: [(await resolveProject(context, project)).id] }
}

/** What is said of an empty list: what to do about it, unless it was narrowed to a place that may well have nothing. */
export const emptyIn = ({ project, environment }: PlaceOptions, advice: string): string =>
  project === undefined && environment === undefined ? advice : `There is nothing of this kind in ${environment ?? project}.`

export async function placeOfNew(
  context: Pick<Context, 'client' | 'io'>,
  options: PlaceOptions,
  folder?: string,
): Promise<Place | undefined> {
  const given = await placeGiven(context, options)
  return given ?? (folder === undefined ? undefined : await linkedPlace(context, folder))
}

/** The environment that the options name. @throws CliError when a project alone is named that has several. */
export async function placeGiven(context: Pick<Context, 'client'>, { project, environment }: PlaceOptions): Promise<Place | undefined> {
  if (environment !== undefined) return resolveEnvironment(context, environment, project)
  if (project === undefined) return undefined
  const found = await resolveProject(context, project)
  const [only, ...others] = (await environmentsOf(context, found.id)).map((held) => ({ project: found, environment: held }))
  if (only === undefined)
    throw usageError(`The project ${found.name} has no environment.`, `Make one with cpctl environments create ${found.name}/<name>.`)
  if (others.length > 0)
    throw usageError(
      `The project ${found.name} has several environments: ${[only, ...others].map(placeName).join(', ')}.`,
      'Name one with --environment.',
    )
  return only
}
