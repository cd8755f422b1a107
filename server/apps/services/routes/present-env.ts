import type { EnvSource, ResolvedEnvVar } from '../../../../shared/env.ts'
import type { Actor } from '../../../http/handlers/call.ts'
import { seesValues } from '../../../identity/scopes/protection.ts'
import type { AppContext } from '../../context.ts'
import { releaseSecrets } from '../../deploys/release-store.ts'
import { deployById } from '../../deploys/store.ts'
import { describePlatformEnv } from '../../variables/platform-env.ts'
import { keysThatTell, type ResolvedVariable } from '../../variables/resolve.ts'
import { resolvedVariables } from '../../variables/resolved.ts'
import { shownEnv } from '../../variables/shown.ts'
import type { StoredService } from '../store.ts'

const platform: EnvSource = { type: 'platform' }

/** All that the service gets, by key: what the platform gives wins over its own, and that over its groups'. */
export function resolvedEnv(context: AppContext, actor: Pick<Actor, 'permissions'>, service: StoredService): ResolvedEnvVar[] {
  const isShown = seesValues(context.db, actor, service.environmentId)
  const viewed = { live: liveValues(context, service), isShown, isTold: isShown && actor.permissions.has('datastores.credentials') }
  const set = resolvedVariables(context, service)
  const telling = keysThatTell(set)
  const given = new Map(describePlatformEnv(context, service).map((one) => [one.key, one]))
  const hidden = new Map(set.map(({ key, source, hides }) => [key, [source, ...hides]]))
  return [
    ...[...given.values()].map(({ key, value }) => ({ key, value, source: platform, hides: hidden.get(key) ?? [] })),
    ...set.filter(({ key }) => !given.has(key)).map((one) => presentResolved(context, one, { ...viewed, telling })),
  ].sort((one, other) => (one.key < other.key ? -1 : 1))
}

interface Viewed {
  live: ReadonlyMap<string, string> | undefined
  isShown: boolean
  isTold: boolean
  telling: ReadonlySet<string>
}

function presentResolved(
  { db }: AppContext,
  { key, value, raw, source, hides, problem }: ResolvedVariable,
  { live, isShown, isTold, telling }: Viewed,
): ResolvedEnvVar {
  return {
    ...shownEnv(db, telling.has(key) ? isTold : isShown, { ...raw, key, value }),
    source,
    hides: [...hides],
    ...(problem !== undefined && { problem }),
    ...(live !== undefined && { isLive: problem === undefined && live.get(key) === value }),
  }
}

function liveValues(context: AppContext, { liveDeployId }: StoredService): ReadonlyMap<string, string> | undefined {
  const releaseId = liveDeployId === null ? null : deployById(context.db, liveDeployId)?.releaseId
  if (releaseId == null) return undefined
  return new Map(releaseSecrets(context, releaseId).envVars.map(({ key, value }) => [key, value]))
}
