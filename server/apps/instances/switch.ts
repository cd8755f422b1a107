import type { AppContext } from '../context.ts'
import { endDeploy } from '../deploys/finish.ts'
import { releaseById, releaseSecrets } from '../deploys/release-store.ts'
import { deployById, type StoredDeploy, updateDeploy } from '../deploys/store.ts'
import { recordEvent } from '../events/store.ts'
import { replaceEnv, replaceSecretFiles } from '../services/env-store.ts'
import { type StoredService, setLive, updateService } from '../services/store.ts'
import { ownPart } from '../variables/release-secrets.ts'
import { instancesOf, updateInstance } from '../workloads/instance-store.ts'
import type { InstanceSet } from '../workloads/service-sets.ts'
import { guardSwitch } from './guard.ts'

/**
 * Puts a set of instances in the live one's place, in one transaction: from here on the new release is the one that a crash of
 * the control plane comes back to. The routes follow, and then the old instances drain, or stand by while the new release is watched.
 */
export function switchTo(context: AppContext, service: StoredService, set: InstanceSet): void {
  context.db.transaction(() => {
    const now = context.now()
    for (const instance of instancesOf(context.db, service.id)) {
      const isInSet = instance.deployId === set.deployId && instance.generation === set.generation
      if (isInSet && instance.phase === 'ready') updateInstance(context.db, instance.id, { isServing: true })
    }
    setLive(context.db, service.id, set)
    guardSwitch(context, service, set)
    const isRestart = service.liveDeployId === set.deployId
    if (isRestart) recordEvent(context.db, { owner: service, type: 'server_restarted', details: { deployId: set.deployId }, now })
    else if (service.liveDeployId !== null) updateDeploy(context.db, service.liveDeployId, { status: 'deactivated' }, now)
  })()
}

export function concludeDeploy(context: AppContext, service: StoredService, deployId: string): void {
  context.db.transaction(() => {
    const deploy = deployById(context.db, deployId)
    if (deploy?.status !== 'update_in_progress') return
    endDeploy(context, { deploy, owner: service }, { status: 'live' })
    recordEvent(context.db, { owner: service, type: 'server_available', details: { deployId }, now: context.now() })
    if (deploy.trigger === 'rollback') restoreSettings(context, service, deploy)
  })()
  context.work.poke('jobs', service.id)
}

/** A rollback brings back what the release was made with, so that the next deploy does not undo it. Groups are others' as well, and stay. */
function restoreSettings(context: AppContext, service: StoredService, deploy: StoredDeploy): void {
  const release = deploy.releaseId === null ? undefined : releaseById(context.db, deploy.releaseId)
  if (release === undefined) return
  const own = ownPart(releaseSecrets(context, release.id))
  updateService(context.db, service.id, { settings: release.settings }, context.now())
  replaceEnv(context, service.id, own.envVars)
  replaceSecretFiles(context, service.id, own.secretFiles)
}
