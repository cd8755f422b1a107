/**
 * What a start does about what an earlier control plane left in the middle: nothing that runs is touched unless nobody knows it any more,
 * and deploys go on at the step they were in.
 */
import { sweepRestores } from '../../apps/backups/work/sweep-restores.ts'
import { endDeploy } from '../../apps/deploys/finish.ts'
import { unfinishedDeploys, updateDeploy } from '../../apps/deploys/store.ts'
import { dropAbandonedSteps } from '../../apps/pipeline/run-step.ts'
import { sweepFetches } from '../../apps/repositories/git/folder.ts'
import { lookAtAll } from '../../apps/repositories/look-store.ts'
import { serviceById } from '../../apps/services/store.ts'
import { recordLost } from '../../apps/shells/record.ts'
import { sweepUploads } from '../../apps/sources/receive.ts'
import { sweepTransfers } from '../../apps/transfers/work/work.ts'
import type { Keeper } from '../../runtime/workloads/keeper.ts'
import type { Context } from './context.ts'
import { setStraysAside } from './strays.ts'

/** A deploy whose build was cut off this often is likely the reason for it. */
const MAX_INTERRUPTIONS = 3

export async function recover(context: Context, keeper: Keeper): Promise<void> {
  // The API listens already, and may be taking an upload.
  await sweepUploads(context.paths.uploads, performance.timeOrigin)
  await sweepFetches(context.paths)
  await sweepTransfers(context)
  await sweepRestores(context)
  await setStraysAside(context)
  recordLost(context)
  await keeper.recover()
  countInterruptions(context)
  dropAbandonedSteps(context)
  lookAtAll(context.db, context.now())
}

function countInterruptions(context: Context): void {
  for (const deploy of unfinishedDeploys(context.db)) {
    const service = serviceById(context.db, deploy.serviceId)
    // While nobody looked, nobody could see it become healthy.
    if (deploy.status === 'update_in_progress') updateDeploy(context.db, deploy.id, { updateStartedAt: context.now() }, context.now())
    if (service === undefined || deploy.status !== 'build_in_progress') continue
    const interruptions = deploy.interruptions + 1
    context.db.transaction(() => {
      updateDeploy(context.db, deploy.id, { interruptions }, context.now())
      if (interruptions <= MAX_INTERRUPTIONS) return
      const reason = `The platform was stopped ${interruptions} times during this step. Deploy again.`
      endDeploy(context, { deploy, owner: service }, { status: 'build_failed', reason })
    })()
  }
}
