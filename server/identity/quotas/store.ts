import type { Database } from 'bun:sqlite'
import { keyValuePlans } from '../../../shared/key-value.ts'
import { type PlanName, plans } from '../../../shared/plan.ts'
import { postgresPlans } from '../../../shared/postgres.ts'
import type { QuotaName } from '../../../shared/quota.ts'
import { type ServiceType, traitsOf } from '../../../shared/service-type.ts'
import { findWorkspace } from '../memberships/store.ts'
import type { Limits } from './limits.ts'

/** Limits that were set for a workspace itself, without those that it has by default. */
export const ownLimits = (db: Database, workspaceId: string): Limits =>
  Object.fromEntries(
    db
      .query<{ name: QuotaName; value: number }, [string]>('SELECT name, value FROM workspace_quotas WHERE workspace_id = ?')
      .all(workspaceId)
      .map(({ name, value }) => [name, value]),
  )

/** Sets limits of a workspace; null takes one back. Belongs in a transaction. */
export function setLimits(db: Database, workspaceId: string, limits: Partial<Record<QuotaName, number | null>>): void {
  for (const [name, value] of Object.entries(limits)) {
    if (value === null) db.query('DELETE FROM workspace_quotas WHERE workspace_id = ? AND name = ?').run(workspaceId, name)
    else
      db.query('INSERT OR REPLACE INTO workspace_quotas (workspace_id, name, value) VALUES ($workspaceId, $name, $value)').run({
        workspaceId,
        name,
        value,
      })
  }
}

/** What a workspace has of all that the database knows; the rest lives in memory. */
export function storedUsage(db: Database, workspaceId: string, now: number): Record<StoredQuota, number> {
  const count = (sql: string): number =>
    db.query<{ n: number }, { workspaceId: string; now: number }>(sql).get({ workspaceId, now })?.n ?? 0
  const services = promised(db, workspaceId)
  const datastores = promisedToDatastores(db, workspaceId)
  return {
    ...services,
    datastores: datastores.count,
    cores: rounded(services.cores + datastores.cores),
    memoryGb: rounded(services.memoryGb + datastores.memoryGb),
    disks: count('SELECT count(*) AS n FROM disks WHERE workspace_id = $workspaceId AND $now > 0'),
    diskGb:
      datastores.diskGb +
      count('SELECT sum(max(size_gb, coalesce(grow_to_gb, 0))) AS n FROM disks WHERE workspace_id = $workspaceId AND $now > 0'),
    members: count(`SELECT (SELECT count(*) FROM members WHERE workspace_id = $workspaceId)
      + (SELECT count(*) FROM invites WHERE workspace_id = $workspaceId AND expires_at > $now) AS n`),
    deploys: count(`SELECT count(*) AS n FROM deploys d JOIN services s ON s.id = d.service_id
      WHERE s.workspace_id = $workspaceId AND d.finished_at IS NULL AND d.status = 'queued' AND d.release_id IS NULL AND $now > 0`),
    builds: count(`SELECT count(*) AS n FROM deploys d JOIN services s ON s.id = d.service_id
      WHERE s.workspace_id = $workspaceId AND d.finished_at IS NULL AND d.status = 'build_in_progress' AND $now > 0`),
    workspaces: workspacesMadeBy(db, findWorkspace(db, workspaceId)?.email ?? ''),
    jobs: count(`SELECT count(*) AS n FROM jobs j JOIN services s ON s.id = j.service_id
      WHERE s.workspace_id = $workspaceId AND j.finished_at IS NULL AND $now > 0`),
  }
}

/** How many workspaces stand under this address, without those that are being deleted. */
export const workspacesMadeBy = (db: Database, email: string): number =>
  db.query<{ n: number }, [string]>('SELECT count(*) AS n FROM workspaces WHERE email = ? AND deleted_at IS NULL').get(email)?.n ?? 0

type StoredQuota = Exclude<QuotaName, 'uploads' | 'shells'>

interface ServiceRow {
  type: ServiceType
  instances: number
  plan: PlanName
}

const MB_PER_GB = 1024
/** Tenths of a core add up to sums that are off by the last bit. */
const rounded = (amount: number): number => Math.round(amount * 1000) / 1000

/** A suspended service counts, since it may be resumed; a cron job counts for the run it may have. */
function promised(db: Database, workspaceId: string): Record<'services' | 'instances' | 'cores' | 'memoryGb', number> {
  const rows = db
    .query<ServiceRow, [string]>(
      `SELECT type, num_instances AS instances, json_extract(settings, '$.plan') AS plan FROM services
       WHERE workspace_id = ? AND deleted_at IS NULL`,
    )
    .all(workspaceId)
  const running = rows.filter(({ type }) => traitsOf(type).runsProgram)
  const sum = (amountOf: (row: ServiceRow) => number) => rounded(running.reduce((total, row) => total + amountOf(row) * row.instances, 0))
  return {
    services: rows.length,
    instances: sum(() => 1),
    cores: sum(({ plan }) => plans[plan].cpu),
    memoryGb: sum(({ plan }) => plans[plan].memoryMb / MB_PER_GB),
  }
}

interface DatastoreRow {
  kind: 'postgres' | 'key_value'
  role: 'primary' | 'replica' | 'standby'
  plan: string
  sizeGb: number
}

const datastorePlans: Record<DatastoreRow['kind'], Readonly<Record<string, { cpu: number; memoryMb: number }>>> = {
  postgres: postgresPlans,
  key_value: keyValuePlans,
}

/**
 * A suspended one counts as a service does, and a read replica as a database; a standby is part of its primary, and takes what it takes. One that
 * is being deleted has given everything up but its disk, which goes in a moment.
 */
function promisedToDatastores(db: Database, workspaceId: string): Record<'count' | 'cores' | 'memoryGb' | 'diskGb', number> {
  const rows = db
    .query<DatastoreRow, [string]>(
      `SELECT kind, role, plan, max(size_gb, coalesce(grow_to_gb, 0)) AS sizeGb FROM datastores WHERE workspace_id = ? AND phase <> 'deleting'`,
    )
    .all(workspaceId)
  const sum = (amountOf: (row: DatastoreRow) => number) => rows.reduce((total, row) => total + amountOf(row), 0)
  return {
    count: rows.filter(({ role }) => role !== 'standby').length,
    cores: sum(({ kind, plan }) => datastorePlans[kind][plan]?.cpu ?? 0),
    memoryGb: sum(({ kind, plan }) => (datastorePlans[kind][plan]?.memoryMb ?? 0) / MB_PER_GB),
    diskGb: sum(({ sizeGb }) => sizeGb),
  }
}
