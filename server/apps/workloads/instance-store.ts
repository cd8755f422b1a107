import type { Database } from 'bun:sqlite'

/**
 * Where an instance stands. `pending` waits for its time to start (the first time, or again after it died), `starting` runs
 * but is not known to be healthy, `ready` is healthy, `serving` is in the routes, `draining` is out of them and on its way out.
 */
export type InstancePhase = 'pending' | 'starting' | 'ready' | 'serving' | 'draining'

/** How an instance ended. */
export interface InstanceExit {
  at: number
  exitCode: number | null
  signal: string | null
  oomKilled: boolean
  /** Why we ended it ourselves, as a sentence without its full stop. */
  reason?: string
}

/** An instance as it is kept. Times are milliseconds since 1970. */
export interface StoredInstance {
  id: string
  serviceId: string
  deployId: string
  releaseId: string
  generation: number
  /** Where its port is reached; null until it runs. */
  address: string | null
  /** Where it is reached: what it was told to listen on, or what it was seen to listen on instead. */
  port: number
  /** The port that the variables of a private service name. */
  ownPort: number | null
  /** Why the port that it listens on cannot be used, as a sentence. */
  misplaced: string | null
  phase: InstancePhase
  restarts: number
  /** The latest, oldest first. */
  exits: InstanceExit[]
  startAt: number
  drainingAt: number | null
  /** Set while it may be frozen. */
  frozenAt: number | null
  startedAt: number | null
  createdAt: number
}

interface InstanceRow {
  id: string
  service_id: string
  deploy_id: string
  release_id: string
  generation: number
  address: string | null
  port: number
  own_port: number | null
  misplaced: string | null
  phase: InstancePhase
  restarts: number
  exits: string
  start_at: number
  draining_at: number | null
  frozen_at: number | null
  started_at: number | null
  created_at: number
}

export type NewInstance = Pick<
  StoredInstance,
  'id' | 'serviceId' | 'deployId' | 'releaseId' | 'generation' | 'port' | 'ownPort' | 'createdAt'
>

/** Writes down that an instance is to be started, due at once. */
export function insertInstance(db: Database, instance: NewInstance): void {
  db.query(
    `INSERT INTO instances (id, service_id, deploy_id, release_id, generation, port, own_port, phase, start_at, created_at)
     VALUES ($id, $serviceId, $deployId, $releaseId, $generation, $port, $ownPort, 'pending', $createdAt, $createdAt)`,
  ).run({ ...instance })
}

/** An instance by id, or undefined when it is gone. */
export function instanceById(db: Database, id: string): StoredInstance | undefined {
  const row = db.query<InstanceRow, [string]>('SELECT * FROM instances WHERE id = ?').get(id)
  return row === null ? undefined : present(row)
}

/** Instances of a service, oldest first. */
export function instancesOf(db: Database, serviceId: string): StoredInstance[] {
  return db.query<InstanceRow, [string]>('SELECT * FROM instances WHERE service_id = ? ORDER BY created_at, id').all(serviceId).map(present)
}

/** Ids of all instances and the services they belong to. */
export function allInstances(db: Database): { id: string; serviceId: string }[] {
  return db.query<{ id: string; serviceId: string }, []>('SELECT id, service_id AS serviceId FROM instances').all()
}

/** Ports that instances hold. */
export function takenPorts(db: Database): Set<number> {
  return new Set(
    db
      .query<{ port: number }, []>('SELECT port FROM instances')
      .all()
      .map((row) => row.port),
  )
}

/** The port at which healthy instances of a release are reached; undefined while there are none. */
export const portOfRelease = (db: Database, releaseId: string): number | undefined =>
  db
    .query<{ port: number }, [string]>(`SELECT port FROM instances WHERE release_id = ? AND phase IN ('ready', 'serving') LIMIT 1`)
    .get(releaseId)?.port

/** Whether there are instances of anything. */
export const hasInstances = (db: Database): boolean => db.query('SELECT 1 FROM instances LIMIT 1').get() !== null

/** Lets no instance of a service that waits for its start be started before then. */
export function holdBackInstances(db: Database, serviceId: string, until: number): void {
  db.query(`UPDATE instances SET start_at = max(start_at, ?) WHERE service_id = ? AND phase = 'pending'`).run(until, serviceId)
}

export type InstanceChange = Partial<
  Pick<
    StoredInstance,
    'phase' | 'address' | 'port' | 'misplaced' | 'restarts' | 'exits' | 'startAt' | 'drainingAt' | 'frozenAt' | 'startedAt'
  >
>

/** Changes what is named and nothing else; nothing when the instance is gone. */
export function updateInstance(db: Database, id: string, change: InstanceChange): void {
  const current = instanceById(db, id)
  if (current === undefined) return
  const next = { ...current, ...change }
  db.query(
    `UPDATE instances SET phase = $phase, address = $address, port = $port, misplaced = $misplaced, restarts = $restarts, exits = $exits, start_at = $startAt,
     draining_at = $drainingAt, frozen_at = $frozenAt, started_at = $startedAt WHERE id = $id`,
  ).run({
    id,
    phase: next.phase,
    address: next.address,
    port: next.port,
    misplaced: next.misplaced,
    restarts: next.restarts,
    exits: JSON.stringify(next.exits),
    startAt: next.startAt,
    drainingAt: next.drainingAt,
    frozenAt: next.frozenAt,
    startedAt: next.startedAt,
  })
}

/** Forgets an instance, and gives its port free. The engine must have removed it before. */
export function deleteInstance(db: Database, id: string): void {
  db.query('DELETE FROM instances WHERE id = ?').run(id)
}

const present = (row: InstanceRow): StoredInstance => ({
  id: row.id,
  serviceId: row.service_id,
  deployId: row.deploy_id,
  releaseId: row.release_id,
  generation: row.generation,
  address: row.address,
  port: row.port,
  ownPort: row.own_port,
  misplaced: row.misplaced,
  phase: row.phase,
  restarts: row.restarts,
  exits: JSON.parse(row.exits) as InstanceExit[],
  startAt: row.start_at,
  drainingAt: row.draining_at,
  frozenAt: row.frozen_at,
  startedAt: row.started_at,
  createdAt: row.created_at,
})
