import type { TouchedService } from '../../../shared/env-group.ts'
import { AppError } from '../../../shared/error.ts'
import { traitsOf } from '../../../shared/service-type.ts'
import { inOneChange } from '../../platform/db/change.ts'
import type { AppContext } from '../context.ts'
import { createDeploy } from '../deploys/operations.ts'
import { releaseById, releaseSecrets, type StoredRelease } from '../deploys/release-store.ts'
import { deployById, type StoredDeploy, unfinishedDeploys } from '../deploys/store.ts'
import type { StoredService } from '../services/store.ts'
import { findSource } from '../sources/store.ts'
import { differing, type Effect } from './touched.ts'

/** What a deploy is asked for with: the build that is live or will be, and never an older one than is on its way. */
type Wish = { deployMode: 'deploy_only' } | { sourceId?: string }

/** Deploys a service with what its groups give now. Who cannot be deployed is left out, with the reason: others can. */
export function redeploy(context: AppContext, service: StoredService): Pick<TouchedService, 'deployId' | 'skipped'> {
  const live = liveReleaseOf(context, service)
  if (service.suspendedAt !== null) return { skipped: 'It is suspended: resume it, then deploy it.' }
  if (live === undefined) return { skipped: 'Nothing of it is live yet: its first deploy takes what its groups give then.' }
  const newest = unfinishedDeploys(context.db, service.id).at(-1)
  if (newest !== undefined && takesWhatIsNow(newest)) return { deployId: newest.id }
  const wish = wishFor(context, service, { live, newest })
  if (wish === undefined) return { skipped: 'A rollback of it is on its way: deploy it when that has ended.' }
  try {
    return { deployId: inOneChange(context.db, () => createDeploy(context, service, { ...wish, trigger: 'service_updated' })).id }
  } catch (error) {
    if (error instanceof AppError) return { skipped: error.message }
    throw error
  }
}

/** A build that has not begun takes what groups give when it does. */
const takesWhatIsNow = ({ status, releaseId }: StoredDeploy): boolean => status === 'queued' && releaseId === null

interface Releases {
  live: StoredRelease
  newest: StoredDeploy | undefined
}

function wishFor(context: AppContext, service: StoredService, { live, newest }: Releases): Wish | undefined {
  if (newest?.trigger === 'rollback') return undefined
  const coming = newest?.releaseId == null ? undefined : releaseById(context.db, newest.releaseId)
  const isNewer = newest !== undefined && coming?.artifact !== live.artifact
  if (!isNewer && traitsOf(service.type).runsProgram) return { deployMode: 'deploy_only' }
  const sourceId = isNewer ? newest.sourceId : live.sourceId
  return sourceId !== null && findSource(context.db, service.id, sourceId) !== undefined ? { sourceId } : {}
}

function liveReleaseOf({ db }: AppContext, { liveDeployId }: StoredService): StoredRelease | undefined {
  const releaseId = liveDeployId === null ? null : deployById(db, liveDeployId)?.releaseId
  return releaseId == null ? undefined : releaseById(db, releaseId)
}

/** The release that is live, or on its way; undefined where there is none yet, or the next takes what is set now. */
export function comingReleaseOf(context: AppContext, service: StoredService): StoredRelease | undefined {
  const newest = unfinishedDeploys(context.db, service.id).at(-1)
  if (newest !== undefined && takesWhatIsNow(newest)) return undefined
  return newest?.releaseId == null ? liveReleaseOf(context, service) : releaseById(context.db, newest.releaseId)
}

/**
 * What the release that is live, or on its way, has otherwise of a group than the service gets of it now: a change that was not deployed
 * at the time, say.
 */
export function pendingFrom(
  context: AppContext,
  groupId: string,
  { service, variables, files }: Effect,
): Pick<TouchedService, 'envVars' | 'secretFiles'> {
  const release = comingReleaseOf(context, service)
  if (release === undefined) return { envVars: [], secretFiles: [] }
  const held = releaseSecrets(context, release.id)
  const [heldVars, heldFiles] = [
    new Map(held.envVars.map((one) => [one.key, one])),
    new Map(held.secretFiles.map((one) => [one.name, one])),
  ]
  const nowVars = new Map(variables.map(({ key, value, source }) => [key, { value, groupId: source.id }]))
  const nowFiles = new Map(files.map((file) => [file.name, file]))
  const isItsOwn = (one: { groupId?: string | undefined } | undefined) => one?.groupId === groupId
  return {
    envVars: differing(heldVars, nowVars, (was, is) => was.value === is.value).filter(
      (key) => isItsOwn(heldVars.get(key)) || isItsOwn(nowVars.get(key)),
    ),
    secretFiles: differing(heldFiles, nowFiles, (was, is) => !(isItsOwn(was) || isItsOwn(is)) || was.content === is.open()).filter(
      (name) => isItsOwn(heldFiles.get(name)) || isItsOwn(nowFiles.get(name)),
    ),
  }
}
