/**
 * What an engine runs though no row says so. Rows are written before anything starts and go after it has ended, so that is what a newer
 * database had started before an older one was put in its place. It is left running for a while: whoever restored the wrong backup can still
 * put the right one back, and finds everything as it was. Requests do not reach it, and files are not swept while it is there.
 */
import type { Database } from 'bun:sqlite'
import type { Engine, ListedWorkload } from '../../engines/port/port.ts'
import { tableOf } from '../../platform/db/table.ts'

export const STRAY_KEPT_MS = 24 * 3_600_000

/** Workers may be in the middle of something. */
const GRACE_MS = 10_000

export interface Stray {
  id: string
  serviceId: string
  /** Milliseconds since 1970. */
  foundAt: number
}

const strays = tableOf<Stray>('strays', { id: 'id', serviceId: 'service_id', foundAt: 'found_at' })

/** Workloads that were found running though nobody knew of them, oldest first. */
export const straysIn = (db: Database): Stray[] => strays.all(db, 'ORDER BY found_at, id')

/** Whether one of them is of this service, and stands on files of it that no row names. */
export const hasStrays = (db: Database, serviceId: string): boolean =>
  strays.get(db, 'WHERE service_id = $serviceId', { serviceId }) !== undefined

export const endOf = ({ foundAt }: Stray): number => foundAt + STRAY_KEPT_MS

export type StrayEnd = 'expired' | 'asked' | 'exited'

export interface StrayOptions {
  db: Database
  engine: Pick<Engine, 'list' | 'inspect' | 'stop' | 'remove'>
  now(): number
  isKnown(id: string): boolean
  /** Whether a stray may run beside what the database starts of its service. */
  mayStay(workload: ListedWorkload): boolean
  onFound(stray: Stray): void
  onEnded(stray: Stray, why: StrayEnd): void
}

export async function sortStrays(options: StrayOptions): Promise<void> {
  const { db, engine } = options
  const unknown = (await engine.list()).filter(({ instanceId }) => !options.isKnown(instanceId))
  for (const { id } of straysIn(db)) if (unknown.every(({ instanceId }) => instanceId !== id)) strays.remove(db, { id })
  await Promise.all(
    unknown.map(async (workload) => {
      const { instanceId: id, ownerId } = workload
      if ((await isRunning(options, id)) && options.mayStay(workload)) return setAside(options, id, ownerId)
      await end(options, id, 0)
      strays.remove(db, { id })
    }),
  )
}

export async function endOldStrays(options: StrayOptions): Promise<void> {
  const { db, now } = options
  for (const stray of straysIn(db)) {
    // The right database may be back, and knows this one again.
    if (options.isKnown(stray.id)) strays.remove(db, { id: stray.id })
    else if (endOf(stray) <= now()) await endStray(options, stray, 'expired')
    else if (!(await isRunning(options, stray.id))) await endStray(options, stray, 'exited')
  }
}

/** Ends these strays now. Whatever is none is left alone. Repeatable. */
export async function endStrays(options: StrayOptions, ids: readonly string[]): Promise<void> {
  const ended = straysIn(options.db).filter(({ id }) => ids.includes(id) && !options.isKnown(id))
  await Promise.all(ended.map((stray) => endStray(options, stray, 'asked')))
}

const isRunning = async ({ engine }: StrayOptions, id: string): Promise<boolean> => (await engine.inspect(id))?.status === 'running'

function setAside({ db, now, onFound }: StrayOptions, id: string, serviceId: string): void {
  const stray = { id, serviceId, foundAt: now() }
  db.transaction(() => {
    if (strays.insert(db, stray, 'ON CONFLICT (id) DO NOTHING')) onFound(stray)
  })()
}

async function endStray(options: StrayOptions, stray: Stray, why: StrayEnd): Promise<void> {
  const { db, onEnded } = options
  await end(options, stray.id, GRACE_MS)
  db.transaction(() => {
    if (strays.remove(db, { id: stray.id }) > 0) onEnded(stray, why)
  })()
}

async function end({ engine }: StrayOptions, id: string, graceMs: number): Promise<void> {
  await engine.stop(id, { graceMs })
  await engine.remove(id)
}
