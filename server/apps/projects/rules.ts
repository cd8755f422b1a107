import { AppError, invalidValue } from '../../../shared/error.ts'
import { type EnvironmentPatch, maxEnvironments, maxProjects, type NewEnvironment } from '../../../shared/project.ts'
import type { StoredEnvironment } from './store.ts'

const MOST_NAMED = 5

/** An environment as it is after a change; `updatedAt` is left to the caller. */
export const patched = (environment: StoredEnvironment, patch: EnvironmentPatch): StoredEnvironment => ({
  ...environment,
  name: patch.name ?? environment.name,
  protectedStatus: patch.protectedStatus ?? environment.protectedStatus,
  isIsolated: patch.networkIsolationEnabled ?? environment.isIsolated,
})

export function refuseSameNames(environments: readonly NewEnvironment[]): void {
  const at = environments.findIndex(({ name }, index) => environments.findIndex((other) => other.name === name) !== index)
  if (at !== -1) throw invalidValue(`/environments/${at}/name`, `${environments[at]?.name} stands there twice.`)
}

export function refuseTooManyProjects(count: number): void {
  if (count >= maxProjects)
    throw new AppError('conflict', `This workspace has ${maxProjects} projects, the most there can be. Delete one first.`)
}

export function refuseTooManyEnvironments(count: number): void {
  if (count >= maxEnvironments)
    throw new AppError('conflict', `This project has ${maxEnvironments} environments, the most there can be. Delete one first.`)
}

/** What is left of each kind in an environment, in words such as `2 services (api, web)`; undefined when there is nothing. */
export function inWords(contents: readonly { one: string; names: readonly string[] }[]): string | undefined {
  const parts = contents.filter(({ names }) => names.length > 0).map(({ one, names }) => countedNames(one, names))
  return parts.length === 0 ? undefined : new Intl.ListFormat('en', { type: 'conjunction' }).format(parts)
}

const countedNames = (one: string, names: readonly string[]): string =>
  `${names.length} ${one}${names.length === 1 ? '' : 's'} (${names.slice(0, MOST_NAMED).join(', ')}${names.length > MOST_NAMED ? ', …' : ''})`
