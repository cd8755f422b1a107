/**
 * Does what was asked for of each database, one transfer after the other. A transfer that this process did not begin has lost the way that its
 * tools spoke through: an import was in one transaction, so nothing of it is in, and the file of an export is not whole. Both have failed.
 */
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../../shared/error.ts'
import type { TransferProgress } from '../../../../shared/postgres-transfer.ts'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import { describeError } from '../../../platform/server-log.ts'
import { createDriver } from '../../../platform/work/driver.ts'
import { whileThereIsRoom } from '../../../runtime/space/room.ts'
import type { AppContext } from '../../context.ts'
import { datastoreById } from '../../datastores/store.ts'
import { requireEndpoint } from '../../postgres/session.ts'
import { postgresById } from '../../postgres/store.ts'
import { saidBy } from '../../workloads/run-once.ts'
import { allTransfers, type StoredTransfer, transferById, transfersOf, updateTransfer } from '../rows/store.ts'
import { progressOf } from '../tools/outcome.ts'
import { performExport } from './exports.ts'
import { clearRun } from './folders.ts'
import { performImport } from './imports.ts'
import { due, forget } from './keep.ts'
import { type Outcome, settle } from './settle.ts'
import type { Place } from './target.ts'

export interface TransferWork {
  poke(datastoreId: string): void
  pokeAll(): void
  cancel(id: string): void
  progress(id: string): Promise<TransferProgress | undefined>
  settled(): Promise<void>
}

interface Running {
  control: AbortController
  bytes(): number
}

const PROGRESS_BYTES = 4096
const canceled = new AppError('conflict', 'It was canceled.')

export function createTransferWork(context: AppContext): TransferWork {
  const { db, now, after, stopping } = context
  const running = new Map<string, Running>()
  const driver = createDriver({
    now,
    after,
    signal: stopping,
    onError: (datastoreId, error) => {
      if (!stopping.aborted) context.log.error('transfers not kept', { datastoreId, ...describeError(error) })
    },
    async run(datastoreId) {
      const transfers = transfersOf(db, datastoreId)
      for (const transfer of transfers.filter(({ status }) => status === 'running')) await interrupted(context, transfer)
      for (const transfer of transfers.filter((one) => one.status === 'removing' || due(one) <= now())) await forget(context, transfer)
      const next = transfers.findLast(({ status }) => status === 'waiting')
      if (next !== undefined) await perform(context, running, next)
      const left = transfersOf(db, datastoreId)
      return left.length === 0 ? undefined : Math.min(...left.map((one) => (one.status === 'waiting' ? now() : due(one))))
    },
  })
  return {
    poke: driver.poke,
    pokeAll() {
      for (const datastoreId of new Set(allTransfers(db).map((transfer) => transfer.datastoreId))) driver.poke(datastoreId)
    },
    cancel: (id) => running.get(id)?.control.abort(canceled),
    async progress(id) {
      const one = running.get(id)
      return one && progressOf(await saidBy(context, id, PROGRESS_BYTES), one.bytes())
    },
    settled: () => driver.settled(),
  }
}

async function perform(context: AppContext, running: Map<string, Running>, { id }: StoredTransfer): Promise<void> {
  const transfer = transferById(context.db, id)
  if (transfer?.status !== 'waiting') return
  const control = new AbortController()
  let bytes = () => 0
  running.set(id, { control, bytes: () => bytes() })
  updateTransfer(context.db, id, { status: 'running', startedAt: context.now() })
  let outcome: Outcome
  try {
    const place = placeOf(context, transfer)
    await clearRun(context, transfer)
    const need = { what: `the ${transfer.kind}`, advice: 'Its operator has to free some; nothing was kept.' }
    const act = transfer.kind === 'export' ? performExport : performImport
    const change = await whileThereIsRoom(context, need, (short) =>
      act({
        ...{ context, transfer, place },
        signal: AbortSignal.any([short, control.signal, context.stopping]),
        watch(count) {
          bytes = count
        },
      }),
    )
    outcome = { status: 'succeeded', change }
  } catch (error) {
    if (context.stopping.aborted) throw error
    outcome = outcomeOf(context, { transfer, error })
  } finally {
    running.delete(id)
  }
  await clearRun(context, transfer)
  await settle(context, transfer, outcome)
}

function outcomeOf({ log }: AppContext, { transfer, error }: { transfer: StoredTransfer; error: unknown }): Outcome {
  if (error === canceled) return { status: 'canceled' }
  if (error instanceof AppError) return { status: 'failed', reason: error.message }
  log.error('transfer failed', { id: transfer.id, datastoreId: transfer.datastoreId, ...describeError(error) })
  return { status: 'failed', reason: 'The platform failed at it; its own log says why. Try again.' }
}

/** @throws AppError conflict while the database does not run. */
function placeOf(context: AppContext, { datastoreId }: StoredTransfer): Place {
  const [datastore, own] = [datastoreById(context.db, datastoreId), postgresById(context.db, datastoreId)]
  if (datastore === undefined || own === undefined) throw new AppError('not_found', 'The database was deleted.')
  return { own, endpoint: requireEndpoint(context, datastore), version: datastore.version, sizeGb: datastore.sizeGb }
}

async function interrupted(context: AppContext, transfer: StoredTransfer): Promise<void> {
  await clearRun(context, transfer)
  const left = transfer.kind === 'import' ? 'Unless it was at its very end, nothing of it is in the database. ' : ''
  await settle(context, transfer, { status: 'failed', reason: `The platform was stopped meanwhile. ${left}Start it again.` })
}

/** Removes files that no row knows, as a kill between the two leaves. The API may be taking an upload, whose row comes with its file. */
export async function sweepTransfers({ paths, db }: Pick<AppContext, 'paths' | 'db'>): Promise<void> {
  if (!existsSync(paths.transfers)) return
  for (const name of await readdir(paths.transfers)) if (transferById(db, name) === undefined) await removeTree(join(paths.transfers, name))
}
