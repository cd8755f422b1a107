import type { TouchedService } from '../../../shared/env-group.ts'
import type { AppContext } from '../context.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { releaseSecrets } from '../deploys/release-store.ts'
import { servicesTold } from '../references/users.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import type { ResolvedVariable } from '../variables/resolve.ts'
import { resolvedVariables } from '../variables/resolved.ts'
import { comingReleaseOf, redeploy } from './redeploy.ts'

/**
 * The services whose release, live or on its way, was told otherwise than the datastore says now: after a rotation, say. With
 * `isDeployed` those are deployed, and each says why where it was not.
 */
export function touchedByDatastore(
  context: AppContext,
  datastore: Pick<StoredDatastore, 'id' | 'workspaceId'>,
  { isDeployed }: { isDeployed: boolean },
): TouchedService[] {
  return servicesTold(context.db, datastore).flatMap((id) => {
    const service = serviceById(context.db, id)
    if (service === undefined) return []
    const variables = resolvedVariables(context, service)
    const envVars = toldOtherwise(context, service, variables)
    if (envVars.length === 0) return []
    const wrong = variables.find(({ problem }) => problem !== undefined)
    return [
      {
        ...{ id, name: service.name, envVars, secretFiles: [] },
        ...(wrong !== undefined && { problem: `${wrong.key} ${wrong.problem}` }),
        ...(isDeployed && redeploy(context, service)),
      },
    ]
  })
}

/** References, and what they are put into. Other variables may differ because they were set since: whoever did that knows. */
function toldOtherwise(context: AppContext, service: StoredService, variables: readonly ResolvedVariable[]): string[] {
  const release = comingReleaseOf(context, service)
  if (release === undefined) return []
  const held = new Map(releaseSecrets(context, release.id).envVars.map((one) => [one.key, one]))
  return variables
    .filter(({ key, raw, value }) => {
      const before = held.get(key)
      const isSame = before !== undefined && (raw.from !== undefined || (raw.interpolate === true && before.raw === raw.value))
      return isSame && before.value !== value
    })
    .map(({ key }) => key)
}
