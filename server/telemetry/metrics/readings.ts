import type { Database } from 'bun:sqlite'
import { type PlanName, plans } from '../../../shared/plan.ts'
import { type ServiceType, traitsOf } from '../../../shared/service-type.ts'
import type { Engine } from '../../engines/port/port.ts'

export interface Reading {
  service: string
  instance: string
  atMs: number
  /** Processor time since its start, in microseconds. */
  cpuUs: number
  memoryBytes: number
}

export interface ServiceFacts {
  id: string
  hasLiveRelease: boolean
  /** Thousandths of a core. */
  cpuLimit: number
  /** MiB. */
  memoryLimit: number
}

const INSTANCES_PER_TURN = 20

/** What builds or prepares a release is no part of what its service uses. */
const unmetered = (db: Database): Set<string> =>
  new Set(
    db
      .query<{ id: string }, []>("SELECT id FROM workloads WHERE purpose IN ('build_step', 'pre_deploy')")
      .all()
      .map(({ id }) => id),
  )

export interface Metered {
  db: Database
  engine: Pick<Engine, 'list' | 'usage'>
  now(): number
}

export async function readInstances({ db, engine, now }: Metered): Promise<Reading[]> {
  const left = unmetered(db)
  const listed = (await engine.list()).filter(({ instanceId }) => !left.has(instanceId))
  const readings: Reading[] = []
  for (const [index, { instanceId, ownerId }] of listed.entries()) {
    if (index % INSTANCES_PER_TURN === INSTANCES_PER_TURN - 1) await new Promise((resolve) => setImmediate(resolve))
    const usage = await engine.usage(instanceId)
    if (usage === undefined) continue
    const cpuUs = Math.round(usage.cpuSeconds * 1e6)
    readings.push({ service: ownerId, instance: instanceId, atMs: now(), cpuUs, memoryBytes: Math.round(usage.memoryBytes) })
  }
  return readings
}

interface ServiceRow {
  id: string
  type: ServiceType
  hasLiveRelease: number
  plan: string | null
}

/** Services that are not being deleted. Limits are those of the live release, which a changed plan takes effect with. */
export function readServices(db: Database): ServiceFacts[] {
  const rows = db
    .query<ServiceRow, []>(
      `SELECT s.id, s.type, s.live_deploy_id IS NOT NULL AS hasLiveRelease,
       coalesce(json_extract(r.settings, '$.plan'), json_extract(s.settings, '$.plan')) AS plan
       FROM services s LEFT JOIN deploys d ON d.id = s.live_deploy_id LEFT JOIN releases r ON r.id = d.release_id
       WHERE s.deleted_at IS NULL`,
    )
    .all()
  return rows.map(({ id, type, hasLiveRelease, plan }) => {
    const limits = plan !== null && Object.hasOwn(plans, plan) && traitsOf(type).runsProgram ? plans[plan as PlanName] : undefined
    return {
      id,
      hasLiveRelease: hasLiveRelease === 1,
      cpuLimit: Math.round((limits?.cpu ?? 0) * 1000),
      memoryLimit: limits?.memoryMb ?? 0,
    }
  })
}
