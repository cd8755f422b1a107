/** The downtime of a stop-first deploy. Both ends are written down as they happen, so it is right whatever is replaced meanwhile. */
import type { AppContext } from '../context.ts'
import { writeDeployLog } from '../deploys/deploy-log.ts'
import { deployById, unfinishedDeploys, updateDeploy } from '../deploys/store.ts'
import { diskOfService } from '../disks/store.ts'
import type { StoredService } from '../services/store.ts'
import { instanceById } from '../workloads/instance-store.ts'

export function noteDowntimeStart(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  service: StoredService,
  instanceIds: readonly string[],
): void {
  const deploy = unfinishedDeploys(db, service.id).find(({ strategy }) => strategy === 'stop_first')
  if (deploy === undefined || deploy.routesLeftAt !== null) return
  if (instanceIds.some((id) => instanceById(db, id)?.phase === 'serving')) updateDeploy(db, deploy.id, { routesLeftAt: now() }, now())
}

export function noteDowntimeEnd(context: AppContext, service: StoredService, deployId: string): void {
  const { db, now } = context
  const deploy = deployById(db, deployId)
  if (deploy?.strategy !== 'stop_first' || deploy.routesLeftAt === null || deploy.downtimeMs !== null) return
  const downtimeMs = Math.max(0, now() - deploy.routesLeftAt)
  updateDeploy(db, deployId, { downtimeMs }, now())
  writeDeployLog(
    context,
    deploy,
    `Stop-first because of disk ${diskOfService(db, service.id)?.name ?? ''}: the service was away for ${downtimeMs} ms`,
  )
}
