import { isDeployRunning } from '../../../shared/deploy.ts'
import type { Owner } from '../../runtime/owner.ts'
import type { AppContext } from '../context.ts'
import { endDeploy } from './finish.ts'
import { deployById, unfinishedDeploys } from './store.ts'

const deleted = { status: 'canceled', reason: 'The service was deleted.' } as const

/** Ends the deploys that wait, and has whoever works on the others stop. Part of the transaction of the deletion. */
export function releaseDeploys(context: AppContext, owner: Owner): void {
  for (const deploy of unfinishedDeploys(context.db, owner.id)) {
    if (deploy.status === 'queued') endDeploy(context, { deploy, owner }, deleted)
    context.work.interruptDeploy(deploy.id)
  }
}

export async function removeDeploys(context: AppContext, owner: Owner): Promise<void> {
  for (const { id } of unfinishedDeploys(context.db, owner.id)) {
    context.db.transaction(() => {
      const deploy = deployById(context.db, id)
      if (deploy !== undefined && isDeployRunning(deploy.status)) endDeploy(context, { deploy, owner }, deleted)
    })()
    context.work.deployEnded(id)
    context.work.interruptDeploy(id)
  }
  await context.work.whenDeploysSettled(owner.id)
}
