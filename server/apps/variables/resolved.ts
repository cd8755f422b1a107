import { AppError } from '../../../shared/error.ts'
import type { AppContext } from '../context.ts'
import { sealedGroupFiles } from '../env-groups/store/file-store.ts'
import { openVariables } from '../env-groups/store/group-store.ts'
import { groupsOfService, type LinkedGroup } from '../env-groups/store/link-store.ts'
import { listEnv, type SealedFile, sealedFilesOf } from '../services/env-store.ts'
import type { StoredService } from '../services/store.ts'
import { givenBy } from './platform-env.ts'
import type { ReleaseSecrets } from './release-secrets.ts'
import { type Layer, type ResolvedVariable, resolveVariables } from './resolve.ts'

export type VariableContext = Pick<AppContext, 'db' | 'sealer' | 'config' | 'hasCertificate'>

/** Opens each group once, however many services it is linked to. Of use for as long as nothing waits. */
export interface Reading {
  variablesOf(group: LinkedGroup): Layer['variables']
}

export function createReading(context: Pick<AppContext, 'sealer'>): Reading {
  const known = new Map<string, Layer['variables']>()
  return {
    variablesOf({ id, sealed }) {
      const held = known.get(sealed)
      if (held !== undefined) return held
      const variables = openVariables(context, id, sealed)
      known.set(sealed, variables)
      return variables
    },
  }
}

/** The variables that the next release of a service will have. */
export function resolvedVariables(context: VariableContext, service: StoredService, reading = createReading(context)): ResolvedVariable[] {
  const groups = groupsOfService(context.db, service.id).map((group): Layer => {
    const source = { type: 'group' as const, id: group.id, name: group.name }
    return { source, variables: reading.variablesOf(group) }
  })
  const own: Layer = { source: { type: 'service' }, variables: listEnv(context, service.id) }
  return resolveVariables([own, ...groups], givenBy(context, service))
}

/** A secret file of a service or of one of its groups; none is opened before it is asked for. */
export interface ResolvedFile extends SealedFile {
  groupId?: string
}

/** The secret files that the next release of a service will have, by name. */
export function resolvedFiles(rows: Pick<AppContext, 'db' | 'sealer'>, serviceId: string): ResolvedFile[] {
  const files = new Map<string, ResolvedFile>(sealedFilesOf(rows, serviceId).map((file) => [file.name, file]))
  for (const { id: groupId } of groupsOfService(rows.db, serviceId))
    for (const file of sealedGroupFiles(rows, groupId)) if (!files.has(file.name)) files.set(file.name, { ...file, groupId })
  return [...files.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** What a release of the service is made with now. @throws AppError validation_failed naming every variable that comes to nothing. */
export function secretsForRelease(context: VariableContext, service: StoredService): ReleaseSecrets {
  const variables = resolvedVariables(context, service)
  refuseProblems(variables)
  return {
    envVars: variables.map(({ key, value, raw, source }) => ({
      key,
      value,
      ...(raw.interpolate === true && { raw: raw.value }),
      ...(source.id !== undefined && { groupId: source.id }),
    })),
    secretFiles: resolvedFiles(context, service.id).map(({ name, open, groupId }) => ({
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
