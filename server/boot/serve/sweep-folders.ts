import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isId } from '../../../shared/id.ts'
import { datastoreById } from '../../apps/datastores/store.ts'
import { closeDeployLog, deployOfOutput } from '../../apps/deploys/deploy-log.ts'
import { pruneReleases } from '../../apps/deploys/prune.ts'
import { deployById } from '../../apps/deploys/store.ts'
import { sweepDisks } from '../../apps/disks/lifecycle/sweep.ts'
import { closeJobOutput } from '../../apps/jobs/output.ts'
import { isDatastoreId } from '../../apps/owners/owners.ts'
import { serviceById } from '../../apps/services/store.ts'
import { instanceById } from '../../apps/workloads/instance-store.ts'
import { jobById } from '../../apps/workloads/job-store.ts'
import type { OutputName } from '../../engines/port/output.ts'
import { removeTree } from '../../platform/files/tree/remove.ts'
import { workloadById } from '../../runtime/workloads/store.ts'
import { straysIn } from '../../runtime/workloads/strays.ts'
import type { Context } from './context.ts'

/** Removes folders that no row knows. While there are strays nothing is: what they stand on is in no row either. */
export async function sweepFolders(context: Context): Promise<void> {
  if (straysIn(context.db).length > 0) return
  await sweepDisks(context)
  for (const name of await readdir(context.paths.services)) {
    context.stopping.throwIfAborted()
    // Whatever else lies there (the lost+found of a disk, say) is not ours.
    if (isDatastoreId(name)) await sweepDatastore(context, name)
    if (!isId('service', name)) continue
    // A folder is always made after its row, so the row is asked for now, not before.
    if (serviceById(context.db, name) === undefined) await removeTree(join(context.paths.services, name))
    else await sweepService(context, name)
  }
}

async function sweepDatastore(context: Context, id: string): Promise<void> {
  if (datastoreById(context.db, id) === undefined) return await removeTree(join(context.paths.services, id))
  for (const name of await context.outputLogs.list(id))
    if (workloadById(context.db, name) === undefined) await context.outputLogs.discard({ ownerId: id, name })
}

async function sweepService(context: Context, serviceId: string): Promise<void> {
  await pruneReleases(context, serviceId)
  for (const name of await context.outputLogs.list(serviceId)) await sweepOutput(context, { ownerId: serviceId, name })
}

async function sweepOutput(context: Context, output: OutputName): Promise<void> {
  const { ownerId: serviceId, name } = output
  const deployId = deployOfOutput(name)
  if (deployId !== undefined) {
    const deploy = deployById(context.db, deployId)
    return deploy?.finishedAt == null ? undefined : await closeDeployLog(context, { id: deploy.id, serviceId })
  }
  const job = jobById(context.db, name)
  if (job?.finishedAt === null) return
  if (job !== undefined) await closeJobOutput(context, job)
  else if (instanceById(context.db, name) === undefined) await context.outputLogs.discard(output)
}
