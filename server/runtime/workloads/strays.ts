/**
 * What an engine runs though no row says so. Rows are written before anything starts and go after it has ended, so that is what a newer
 * database had started before an older one was put in its place. It is left running for a while: whoever restored the wrong backup can still
 * put the right one back, and finds everything as it was. Requests do not reach it, and files are not swept while it is there.
 */
import type { Database } from 'bun:sqlite'
import type { Engine } from '../../engines/port/port.ts'
import { tableOf } from '../../platform/db/table.ts'
import type { ServerLog } from '../../platform/server-log.ts'

/** How long a stray goes on running from the first start that found it. */
export const STRAY_KEPT_MS = 24 * 3_600_000

export interface Stray {
  id: string
  serviceId: string
  /** Milliseconds since 1970. */
  foundAt: number
}

const strays = tableOf<Stray>('strays', { id: 'id', serviceId: 'service_id', foundAt: 'found_at' })

/** Workloads that were found running though nobody knew of them, oldest first. */
export const straysIn = (db: Database): Stray[] => strays.all(db, 'ORDER BY found_at, id')

export interface StrayOptions {
  db: Database
  engine: Pick<Engine, 'list' | 'inspect' | 'stop' | 'remove'>
  log: ServerLog
  now(): number
  isKnown(id: string): boolean
  /** Whether something of this service may run beside what the database starts of it. */
  mayStay(serviceId: string): boolean
}

/** Before anything is started: ends tasks of a dead control plane, forgets what has ended, sets strays aside and reports them. */
export async function sortStrays(options: StrayOptions): Promise<void> {
  const { db, engine, now } = options
  const unknown = (await engine.list()).filter(({ instanceId, kind }) => kind === 'task' || !options.isKnown(instanceId))
  for (const { id } of straysIn(db)) if (unknown.every(({ instanceId }) => instanceId !== id)) strays.remove(db, { id })
  await Promise.all(
    unknown.map(async ({ instanceId: id, kind, serviceId }) => {
      const isRunning = kind === 'instance' && (await engine.inspect(id))?.status === 'running'
      if (!isRunning || !options.mayStay(serviceId)) return await endStray(options, id)
      strays.insert(db, { id, serviceId, foundAt: now() }, 'ON CONFLICT (id) DO NOTHING')
    }),
  )
  for (const stray of straysIn(db)) report(options, stray)
}

/** Ends the strays whose time is over. */
export async function endOldStrays(options: StrayOptions): Promise<void> {
  const { db, log, now } = options
  for (const { id, serviceId, foundAt } of straysIn(db)) {
    if (foundAt + STRAY_KEPT_MS > now()) continue
    // The right database may be back, and knows this one again.
    if (options.isKnown(id)) strays.remove(db, { id })
    else await endStray(options, id)
    log.info('stray workload ended', { workloadId: id, serviceId })
  }
}

function report({ log }: StrayOptions, { id, serviceId, foundAt }: Stray): void {
  const endsAt = new Date(foundAt + STRAY_KEPT_MS).toISOString()
  const message = 'The engine runs this, and the database does not know it. It gets no requests, and is ended then.'
  log.error('stray workload set aside', { workloadId: id, serviceId, endsAt, message })
}

async function endStray({ db, engine }: StrayOptions, id: string): Promise<void> {
  await engine.stop(id, { graceMs: 0 })
  await engine.remove(id)
  strays.remove(db, { id })
}
