/**
 * Brings a database to another major version. What is under way is written down before it is done, each step can be taken again by whoever
 * finds it so, and nothing but one of the steps touches the data meanwhile: the server is stopped first, and what it has is kept apart before
 * anything of it changes. Where a step refuses, the database goes on as it was.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../../../shared/error.ts'
import { inOneChange } from '../../../platform/db/change.ts'
import { describeError } from '../../../platform/server-log.ts'
import type { AppContext } from '../../context.ts'
import { endpointOf } from '../../datastores/endpoint.ts'
import { datastoreById, type StoredDatastore, updateDatastore } from '../../datastores/store.ts'
import { recordEvent } from '../../events/store.ts'
import { programsOf } from '../programs.ts'
import { answered, ownOf } from '../session.ts'
import { updatePostgres } from '../store.ts'
import { type StoredUpgrade, updateUpgrade, upgradeOf } from '../upgrade-store.ts'
import { renewOldExtensions } from './old-extensions.ts'
import { endUpgradeRuns, runStep, type Upgrading } from './run.ts'
import { forgetSnapshots, undoneKey } from './way-back.ts'

const MOST_ATTEMPTS = 3

/** Gets ready what can be while the server runs. `untilLogCame` returns when backups have what was written. */
export async function prepareUpgrade(context: AppContext, { id }: StoredDatastore, untilLogCame: () => Promise<void>): Promise<void> {
  const upgrade = upgradeOf(context.db, id)
  if (upgrade === undefined) return
  try {
    await unpackBoth(context, upgrade)
    const endpoint = endpointOf(context, { id })
    if (endpoint !== undefined) await answered(context, id, () => renewOldExtensions(context, { id, endpoint }))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return endWithout(context, upgrade, error.message)
  }
  await untilLogCame()
  inOneChange(context.db, () => {
    if (datastoreById(context.db, id)?.upgrade !== 'announced') return
    updateDatastore(context.db, id, { upgrade: 'under_way' }, context.now())
    updateUpgrade(context.db, id, { step: 'checking' })
  })
}

async function unpackBoth(context: AppContext, { fromVersion, toVersion }: StoredUpgrade): Promise<void> {
  await context.programs.ensure(programsOf(context, fromVersion).name)
  const folder = await context.programs.ensure(programsOf(context, toVersion).name)
  for (const tool of ['pg_upgrade', 'pg_dump', 'vacuumdb'])
    if (!existsSync(join(folder, 'bin', tool)))
      throw new AppError(
        'unavailable',
        `The PostgreSQL ${toVersion} of this server has no ${tool}, which an upgrade needs. Its operator can install it.`,
      )
}

/** Takes the next step of a database of which no server runs. Returns whether there was one that could be taken. */
export async function stepUpgrade(context: AppContext, datastore: StoredDatastore): Promise<boolean> {
  const upgrade = upgradeOf(context.db, datastore.id)
  if (upgrade === undefined) throw new Error(`Nothing is written down of the upgrade of ${datastore.id}`)
  const upgrading = { datastore, upgrade }
  switch (upgrade.step) {
    case 'checking':
      await check(context, upgrading)
      return true
    case 'keeping':
      return await keep(context, upgrading)
    case 'linking':
      await link(context, upgrading)
      return true
    case 'returning':
      return await takeBack(context, upgrading)
    default:
      goOn(context, datastore.id)
      return true
  }
}

async function check(context: AppContext, upgrading: Upgrading): Promise<void> {
  const { id, stoppedAt } = upgrading.upgrade
  if (stoppedAt === null) updateUpgrade(context.db, id, { stoppedAt: context.now() })
  const verdict = await runStep(context, upgrading, 'check')
  if (verdict.kind === 'done') return updateUpgrade(context.db, id, { step: 'keeping', attempts: 0 })
  if (verdict.kind === 'refused') return endWithout(context, upgrading.upgrade, verdict.reason)
  if (!isLastAttempt(context, upgrading.upgrade)) return
  endWithout(context, upgrading.upgrade, 'What looks whether it can be done ended three times before it had.')
}

/** What an upgrade before this one has kept goes for it. */
async function keep(context: AppContext, { datastore: { volumeId }, upgrade }: Upgrading): Promise<boolean> {
  const { volumes } = context.engine
  if (await volumes.isInUse(volumeId)) return false
  try {
    await forgetSnapshots(context, volumeId, { except: upgrade.snapshot })
    await volumes.snapshot(volumeId, upgrade.snapshot, context.stopping)
    updateUpgrade(context.db, upgrade.id, { step: 'linking' })
  } catch (error) {
    context.stopping.throwIfAborted()
    context.log.error('database not kept for its upgrade', { datastoreId: upgrade.id, ...describeError(error) })
    const why = error instanceof AppError ? error.message : 'The platform failed at it; its own log says why.'
    endWithout(context, upgrade, `What it is before could not be kept apart. ${why}`)
  }
  return true
}

async function link(context: AppContext, upgrading: Upgrading): Promise<void> {
  const { upgrade } = upgrading
  const verdict = await runStep(context, upgrading, 'link')
  if (verdict.kind === 'done') return settle(context, upgrade, { version: upgrade.toVersion, step: 'starting' })
  if (verdict.kind === 'refused') return endWithout(context, upgrade, verdict.reason)
  if (!isLastAttempt(context, upgrade)) return
  updateUpgrade(context.db, upgrade.id, {
    step: 'returning',
    reason: 'What brings it to the new version ended three times before it was done.',
  })
}

/** A run that nobody saw the end of is begun again, as it leaves what is done, but not for ever. */
function isLastAttempt({ db }: AppContext, upgrade: StoredUpgrade): boolean {
  const attempts = upgrade.attempts + 1
  updateUpgrade(db, upgrade.id, { attempts })
  return attempts >= MOST_ATTEMPTS
}

async function takeBack(context: AppContext, { datastore, upgrade }: Upgrading): Promise<boolean> {
  const { volumeId, sizeGb } = datastore
  const { volumes } = context.engine
  await endUpgradeRuns(context, volumeId)
  if (await volumes.isInUse(volumeId)) return false
  try {
    await volumes.restore(volumeId, { key: upgrade.snapshot, keepAs: undoneKey(upgrade), sizeGb })
  } catch (error) {
    if (error instanceof AppError) updateDatastore(context.db, datastore.id, { problem: error.message }, context.now())
    throw error
  }
  settle(context, upgrade, { version: upgrade.fromVersion, step: 'returned' })
  return true
}

interface Settled {
  version: string
  step: 'starting' | 'returned'
}

/** From here on the data is of this version, and writes a log of its own. Who follows it takes all anew. */
function settle(context: AppContext, upgrade: StoredUpgrade, { version, step }: Settled): void {
  const { db, now } = context
  const { id } = upgrade
  inOneChange(db, () => {
    const { lineage } = ownOf(context, { id })
    updateDatastore(db, id, { version }, now())
    updatePostgres(db, id, { lineage: lineage + 1, lineageAt: now() })
    updateUpgrade(db, id, { step, ...(step === 'returned' && { finishedAt: now(), keptUntil: null }) })
    if (step === 'returned') tellReturn(context, upgrade)
    goOn(context, id)
  })
}

function tellReturn(context: AppContext, { id, fromVersion, toVersion, reason }: StoredUpgrade): void {
  const datastore = datastoreById(context.db, id)
  if (datastore === undefined) return
  const { name, workspaceId } = datastore
  const details = { name, from: fromVersion, to: toVersion, ...(reason !== null && { reason }) }
  const type = reason === null ? 'postgres_upgrade_reverted' : 'postgres_upgrade_failed'
  recordEvent(context.db, { owner: { id, workspaceId }, type, details, now: context.now() })
}

function endWithout(context: AppContext, upgrade: StoredUpgrade, reason: string): void {
  inOneChange(context.db, () => {
    updateUpgrade(context.db, upgrade.id, { step: 'failed', reason, finishedAt: context.now() })
    tellReturn(context, { ...upgrade, reason })
    goOn(context, upgrade.id)
  })
}

function goOn(context: AppContext, id: string): void {
  const datastore = datastoreById(context.db, id)
  if (datastore === undefined) return
  const isStopped = datastore.upgrade === 'under_way'
  const fresh = isStopped ? { generation: datastore.generation + 1, problem: null } : {}
  updateDatastore(context.db, id, { upgrade: null, ...fresh }, context.now())
  context.work.poke('datastore', id)
}
