import type { Database } from 'bun:sqlite'
import { keyValuePlans } from '../../../shared/key-value.ts'
import { plans } from '../../../shared/plan.ts'
import { postgresPlans } from '../../../shared/postgres.ts'
import { type ServiceType, traitsOf } from '../../../shared/service-type.ts'
import type { Engine, VolumeSpace } from '../../engines/port/port.ts'

export interface Reading {
  service: string
  instance: string
  atMs: number
  /** Processor time since its start, in microseconds. */
  cpuUs: number
  memoryBytes: number
  disk?: VolumeSpace
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
    const { cpuSeconds, memoryBytes, disk } = usage
    const read = { cpuUs: Math.round(cpuSeconds * 1e6), memoryBytes: Math.round(memoryBytes), ...(disk && { disk }) }
    readings.push({ service: ownerId, instance: instanceId, atMs: now(), ...read })
  }
  return readings
}

interface OwnerRow {
  id: string
  /** A datastore's kind, or a service's type. */
  type: ServiceType | keyof typeof plansOfDatastores
  hasLiveRelease: number
  plan: string | null
}

const plansOfDatastores = { postgres: postgresPlans, key_value: keyValuePlans }

/** Services and datastores that are not being deleted. Limits are those of the live release, which a changed plan takes effect with. */
export function readServices(db: Database): ServiceFacts[] {
  const rows = db
    .query<OwnerRow, []>(
      `SELECT s.id, s.type, s.live_deploy_id IS NOT NULL AS hasLiveRelease,
       coalesce(json_extract(r.settings, '$.plan'), json_extract(s.settings, '$.plan')) AS plan
       FROM services s LEFT JOIN deploys d ON d.id = s.live_deploy_id LEFT JOIN releases r ON r.id = d.release_id
       WHERE s.deleted_at IS NULL
       UNION ALL SELECT id, kind, 1, plan FROM datastores WHERE phase <> 'deleting'`,
    )
    .all()
  return rows.map(({ id, type, hasLiveRelease, plan }) => {
    const limits = plan === null ? undefined : new Map<string, Limits>(Object.entries(plansOf(type))).get(plan)
    return {
      id,
      hasLiveRelease: hasLiveRelease === 1,
      cpuLimit: Math.round((limits?.cpu ?? 0) * 1000),
      memoryLimit: limits?.memoryMb ?? 0,
    }
  })
}

interface Limits {
  cpu: number
  memoryMb: number
}

function plansOf(type: OwnerRow['type']): Record<string, Limits> {
  if (type === 'postgres' || type === 'key_value') return plansOfDatastores[type]
  return traitsOf(type).runsProgram ? plans : {}
}
