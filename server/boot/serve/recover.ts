/**
 * What a start does about what an earlier control plane left in the middle: nothing that runs is touched unless nobody knows it any more,
 * and deploys go on at the step they were in.
 */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isId } from '../../../shared/id.ts'
import { closeDeployLog, followDeployLog } from '../../apps/deploys/deploy-log.ts'
import { endDeploy } from '../../apps/deploys/finish.ts'
import { pruneReleases } from '../../apps/deploys/prune.ts'
import { deployById, unfinishedDeploys, updateDeploy } from '../../apps/deploys/store.ts'
import { sweepDisks } from '../../apps/disk-work/sweep.ts'
import { freezeAgain } from '../../apps/instances/sleep.ts'
import { closeJobOutput } from '../../apps/jobs/output.ts'
import { serviceById } from '../../apps/services/store.ts'
import { recordLost } from '../../apps/shells/record.ts'
import { sweepUploads } from '../../apps/sources/receive.ts'
import { instanceById } from '../../apps/workloads/instance-store.ts'
import { jobById } from '../../apps/workloads/job-store.ts'
import { removeTree } from '../../platform/files/tree/remove.ts'
import { servicePathsOf } from '../../platform/paths.ts'
import { sortStrays, straysIn } from '../../runtime/workloads/strays.ts'
import type { Supervisor } from '../../runtime/workloads/supervisor.ts'
import type { Context } from './context.ts'
import { strayOptions } from './workloads.ts'

/** A deploy that was cut off this often is likely the reason for it. */
const MAX_INTERRUPTIONS = 3

export async function recover(context: Context, supervisor: Supervisor): Promise<void> {
  // The API listens already, and may be taking an upload.
  await sweepUploads(context.paths.uploads, performance.timeOrigin)
  await sortStrays(strayOptions(context))
  await supervisor.recover()
  await freezeAgain(context)
  countInterruptions(context)
  recordLost(context)
}

function countInterruptions(context: Context): void {
  for (const deploy of unfinishedDeploys(context.db)) {
    const service = serviceById(context.db, deploy.serviceId)
    // While nobody looked, nobody could see it become healthy.
    if (deploy.status === 'update_in_progress') updateDeploy(context.db, deploy.id, { updateStartedAt: context.now() }, context.now())
    if (service === undefined || (deploy.status !== 'build_in_progress' && deploy.status !== 'pre_deploy_in_progress')) continue
    const interruptions = deploy.interruptions + 1
    context.db.transaction(() => {
      updateDeploy(context.db, deploy.id, { interruptions }, context.now())
      if (interruptions <= MAX_INTERRUPTIONS) return
      const status = deploy.status === 'build_in_progress' ? 'build_failed' : 'pre_deploy_failed'
      endDeploy(
        context,
        { deploy, owner: service },
        { status, reason: `The platform was stopped ${interruptions} times during this step. Deploy again.` },
      )
    })()
  }
}

export async function sweepFolders(context: Context): Promise<void> {
  // What they stand on is in no row either.
  if (straysIn(context.db).length > 0) return
  await sweepDisks(context)
  for (const name of await readdir(context.paths.services)) {
    context.stopping.throwIfAborted()
    // Whatever else lies there (the lost+found of a disk, say) is not ours.
    if (!isId('service', name)) continue
    // A folder is always made after its row, so the row is asked for now, not before.
    if (serviceById(context.db, name) === undefined) await removeTree(join(context.paths.services, name))
    else await sweepService(context, name)
  }
}

async function sweepService(context: Context, serviceId: string): Promise<void> {
  await pruneReleases(context, serviceId)
  const { output } = servicePathsOf(context.paths, serviceId)
  for (const name of await readdir(output).catch(() => [])) await sweepOutput(context, serviceId, { name, path: join(output, name) })
}

async function sweepOutput(context: Context, serviceId: string, { name, path }: { name: string; path: string }): Promise<void> {
  if (name.endsWith('.build.log')) {
    const deploy = deployById(context.db, name.slice(0, -'.build.log'.length))
    if (deploy?.finishedAt == null) return
    followDeployLog(context, { id: deploy.id, serviceId })
    return await closeDeployLog(context, { id: deploy.id, serviceId })
  }
  const id = name.replace(/\.log$/, '')
  const job = jobById(context.db, id)
  if (job?.finishedAt === null) return
  if (job !== undefined) await closeJobOutput(context, job)
  else if (instanceById(context.db, id) === undefined) await rm(path, { force: true })
}
