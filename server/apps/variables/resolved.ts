import { AppError } from '../../../shared/error.ts'
import type { AppContext } from '../context.ts'
import { sealedGroupFiles } from '../env-groups/store/file-store.ts'
import { openVariables } from '../env-groups/store/group-store.ts'
import { groupsOfService, type LinkedGroup } from '../env-groups/store/link-store.ts'
import { listEnv, type SealedFile, sealedFilesOf } from '../services/env-store.ts'
import type { StoredService } from '../services/store.ts'
import { givenBy } from './platform-env.ts'
import { lookUpFor } from './references.ts'
import type { ReleaseSecrets } from './release-secrets.ts'
import { type Layer, type ResolvedVariable, resolveVariables, type Surroundings } from './resolve.ts'

export type VariableContext = Pick<AppContext, 'db' | 'sealer' | 'config' | 'hasCertificate'>

export const ownLayer = (context: VariableContext, { id }: StoredService): Layer => ({
  source: { type: 'service' },
  variables: listEnv(context, id),
})

export const groupLayer = (context: VariableContext, { id, name, sealed }: LinkedGroup): Layer => ({
  source: { type: 'group', id, name },
  variables: openVariables(context, id, sealed),
})

export const surroundingsOf = (context: VariableContext, service: StoredService): Surroundings => ({
  given: givenBy(context, service),
  lookUp: lookUpFor(context, service),
})

export function resolvedVariables(context: VariableContext, service: StoredService): ResolvedVariable[] {
  const groups = groupsGiven(context, service).map((group) => groupLayer(context, group))
  return resolveVariables([ownLayer(context, service), ...groups], surroundingsOf(context, service))
}

const groupsGiven = ({ db }: VariableContext, { id, foreignCommit }: StoredService): LinkedGroup[] =>
  foreignCommit === null ? groupsOfService(db, id) : []

/** A secret file of a service or of one of its groups; none is opened before it is asked for. */
export interface ResolvedFile extends SealedFile {
  groupId?: string
}

/** The files that win, by name. Sources come strongest first, as layers do. */
export function resolveFiles(sources: readonly (readonly ResolvedFile[])[]): ResolvedFile[] {
  const files = new Map<string, ResolvedFile>()
  for (const file of sources.flat()) if (!files.has(file.name)) files.set(file.name, file)
  return [...files.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
}

export const groupFiles = (context: VariableContext, groupId: string): ResolvedFile[] =>
  sealedGroupFiles(context, groupId).map((file) => ({ ...file, groupId }))

const resolvedFiles = (context: VariableContext, service: StoredService): ResolvedFile[] =>
  resolveFiles([sealedFilesOf(context, service.id), ...groupsGiven(context, service).map(({ id }) => groupFiles(context, id))])

/** What a release of the service is made with now. @throws AppError validation_failed naming every variable that comes to nothing. */
export function secretsForRelease(context: VariableContext, service: StoredService): ReleaseSecrets {
  const variables = resolvedVariables(context, service)
  refuseProblems(variables)
  return {
    envVars: variables.map(({ key, value, raw, source }) => ({
      key,
      value,
      ...(raw.interpolate === true && { raw: raw.value }),
      ...(raw.from !== undefined && { from: raw.from }),
      ...(source.id !== undefined && { groupId: source.id }),
    })),
    secretFiles: resolvedFiles(context, service).map(({ name, open, groupId }) => ({
      name,
      content: open(),
      ...(groupId !== undefined && { groupId }),
    })),
  }
}

const TOLD_PROBLEMS = 10

function refuseProblems(variables: readonly ResolvedVariable[]): void {
  const problems = variables.flatMap(({ key, problem }) =>
    problem === undefined ? [] : [{ path: `/${key}`, message: `${key} ${problem}.` }],
  )
  const [first] = problems
  if (first === undefined) return
  const others = problems.length === 1 ? '' : ` ${problems.length - 1} more of its variables come to nothing.`
  throw new AppError('validation_failed', `${first.message}${others} cpctl env list --resolved shows where each comes from.`, {
    details: problems.slice(0, TOLD_PROBLEMS),
  })
}
