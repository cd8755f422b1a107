/** What is left to do of upgrades when their servers run again: bringing along what the server itself did not, and forgetting the way back when its day is over. */
import { describeError } from '../../../platform/server-log.ts'
import { createDriver } from '../../../platform/work/driver.ts'
import type { AppContext } from '../../context.ts'
import { endpointOf } from '../../datastores/endpoint.ts'
import { datastoreById } from '../../datastores/store.ts'
import { allUpgrades, type StoredUpgrade, updateUpgrade, upgradeOf } from '../upgrade-store.ts'
import { settleUpgrade } from './settle.ts'
import { undoneKey } from './way-back.ts'

export interface UpgradeWork {
  poke(datastoreId: string): void
  pokeAll(): void
  settled(): Promise<void>
}

export function createUpgradeWork(context: AppContext): UpgradeWork {
  const driver = createDriver({
    run: (id) => tend(context, id),
    onError: (datastoreId, error) => {
      if (!context.stopping.aborted) context.log.error('upgrade of a database not ended', { datastoreId, ...describeError(error) })
    },
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })
  return {
    poke: driver.poke,
    pokeAll() {
      for (const { id } of allUpgrades(context.db)) driver.poke(id)
    },
    settled: driver.settled,
  }
}

/** Returns when to look again though nothing happens (ms since 1970), or undefined. */
async function tend(context: AppContext, id: string): Promise<number | undefined> {
  const upgrade = upgradeOf(context.db, id)
  if (upgrade === undefined) return undefined
  if (upgrade.step === 'settling') await settle(context, upgrade)
  const now = upgradeOf(context.db, id) ?? upgrade
  if (!isOver(context, now)) return now.keptUntil ?? undefined
  if (now.snapshot !== '') await forget(context, now)
  return undefined
}

/** Who took the place of a database has no way back: what is kept is on the volume of its standby. */
function isOver({ db, now }: AppContext, { id, step, keptUntil, volumeId }: StoredUpgrade): boolean {
  if (step === 'failed' || step === 'returned') return true
  if (step !== 'settling' && step !== 'done') return false
  return keptUntil === null || keptUntil <= now() || datastoreById(db, id)?.volumeId !== volumeId
}

async function settle(context: AppContext, upgrade: StoredUpgrade): Promise<void> {
  const { db } = context
  const endpoint = endpointOf(context, upgrade)
  if (endpoint === undefined || datastoreById(db, upgrade.id)?.upgrade !== null) return
  const problems = await settleUpgrade(context, { upgrade, endpoint })
  const reason = problems.length === 0 ? null : problems.join(' ')
  db.transaction(() => {
    if (upgradeOf(db, upgrade.id)?.step === 'settling') updateUpgrade(db, upgrade.id, { step: 'done', reason })
  })()
}

async function forget({ db, engine }: AppContext, { id, volumeId, snapshot }: StoredUpgrade): Promise<void> {
  for (const key of [snapshot, undoneKey({ snapshot })]) await engine.volumes.removeSnapshot(volumeId, key)
  db.transaction(() => {
    if (upgradeOf(db, id)?.snapshot === snapshot) updateUpgrade(db, id, { snapshot: '', keptUntil: null })
  })()
}
