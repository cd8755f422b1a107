/**
 * Keeps one cluster made ahead, so that a new database need not wait for its own. A spare is written down before anything of it is made, and
 * taken out of the table in the transaction that makes a database of it: none is used twice, and one that nobody finished is thrown away.
 */
import { defaultPostgresSizeGb } from '../../../../shared/postgres.ts'
import { newId } from '../../../platform/id.ts'
import { describeError } from '../../../platform/server-log.ts'
import { removeServiceFolders } from '../../../platform/service-folders.ts'
import { pause } from '../../../platform/work/clock.ts'
import { createDriver } from '../../../platform/work/driver.ts'
import type { AppContext } from '../../context.ts'
import { allDatastores } from '../../datastores/store.ts'
import { nextUid } from '../../services/user-ids.ts'
import { endClusterRun, makeCluster } from '../cluster.ts'
import { chooseVersion, programsOf } from '../programs.ts'
import { allSpares, insertSpare, removeSpareRow, retireSpare, type StoredSpare, setSpareReady, sparePurpose } from '../spare-store.ts'
import { newPassword } from '../sql.ts'
import { planSpares, type Wanted } from './plan.ts'

const AFTER_FAILURE_MS = 10 * 60_000
const IN_USE_CHECK_MS = 50
const GIB = 1024 ** 3

export interface SpareWork {
  poke(): void
  pokeAll(): void
  settled(): Promise<void>
}

export function createSpareWork(context: AppContext): SpareWork {
  const startedAt = context.now()
  let notBefore = 0
  const driver = createDriver({
    run: async () => {
      const { remove, make, lookAt } = planNow(context, Math.max(startedAt, notBefore))
      for (const spare of remove) await clear(context, spare)
      if (make === undefined) return lookAt
      notBefore = context.now() + AFTER_FAILURE_MS
      await makeSpare(context, make)
      notBefore = 0
      return undefined
    },
    onError: (_, error) => {
      if (!context.stopping.aborted) context.log.error('no spare database made', describeError(error))
    },
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })
  const poke = () => driver.poke('postgres')
  return { poke, pokeAll: poke, settled: driver.settled }
}

function planNow(context: AppContext, startedAt: number) {
  const { db, now, engine } = context
  const databases = allDatastores(db).filter(({ kind, phase }) => kind === 'postgres' && phase !== 'deleting')
  return planSpares({
    ...{ now: now(), startedAt, spares: allSpares(db), make: wantedNow(context), roomGb: engine.volumes.roomBytes() / GIB },
    databases: databases.map(({ createdAt, phase }) => ({ createdAt, isBeingMade: phase === 'creating' || phase === 'recovering' })),
  })
}

function wantedNow(context: AppContext): Wanted | undefined {
  if (context.programs.available('postgres').length === 0) return undefined
  const version = chooseVersion(context, undefined)
  const [{ name: volumeKind }] = context.engine.volumes.capabilities.kinds
  return { volumeKind, version, program: programsOf(context, version).name, sizeGb: defaultPostgresSizeGb }
}

async function makeSpare(context: AppContext, wanted: Wanted): Promise<void> {
  const { db, engine, sealer, now } = context
  const volumeId = newId('volume', now())
  const password = newPassword()
  const sealed = { adminPasswordSealed: sealer.seal(password, sparePurpose(volumeId)) }
  const spare = { ...wanted, ...sealed, volumeId, number: nextUid(db), createdAt: now() }
  insertSpare(db, spare)
  try {
    await fill(context, spare, password)
  } catch (error) {
    if (!context.stopping.aborted) await clear(context, spare)
    throw error
  }
  while (await engine.volumes.isInUse(volumeId)) await pause(context, IN_USE_CHECK_MS, context.stopping)
  await forgetRun(context, volumeId)
  setSpareReady(db, volumeId)
}

async function fill(context: AppContext, spare: Omit<StoredSpare, 'phase'>, adminPassword: string): Promise<void> {
  const { volumeId, volumeKind: kind, sizeGb, number, version, program } = spare
  const owner = { id: volumeId, number }
  await context.engine.volumes.make({ id: volumeId, kind, sizeGb, owner })
  await makeCluster(context, { owner, volumeId, version, program, adminPassword, priority: 'background' })
}

async function clear(context: AppContext, { volumeId }: Pick<StoredSpare, 'volumeId'>): Promise<void> {
  if (!retireSpare(context.db, volumeId)) return
  await endClusterRun(context, volumeId)
  await forgetRun(context, volumeId)
  await context.engine.volumes.remove(volumeId)
  removeSpareRow(context.db, volumeId)
}

async function forgetRun(context: AppContext, volumeId: string): Promise<void> {
  await context.engine.removeOwner(volumeId)
  await removeServiceFolders(context.paths, volumeId)
}
