import { AppError } from '../../../../shared/error.ts'
import { mostExports, type PostgresImportBody } from '../../../../shared/postgres-transfer.ts'
import { refuseProtected, type Viewer } from '../../../identity/scopes/protection.ts'
import { isWithin } from '../../../identity/scopes/scope.ts'
import { inOneChange } from '../../../platform/db/change.ts'
import { newId } from '../../../platform/id.ts'
import type { AppContext } from '../../context.ts'
import { refuseUnlessReady } from '../../datastores/operations.ts'
import { requireDatastore } from '../../datastores/require.ts'
import { findDatastore, type StoredDatastore } from '../../datastores/store.ts'
import { requireEndpoint } from '../../postgres/session.ts'
import { nextUid } from '../../services/user-ids.ts'
import { policyOf } from '../../webhooks/url.ts'
import {
  insertTransfer,
  type NewTransfer,
  type StoredTransfer,
  type TransferKind,
  transferById,
  transfersOf,
  updateTransfer,
} from '../rows/store.ts'
import { parseSource } from '../source/url.ts'
import { sourcePurpose } from '../work/imports.ts'

/** Transfers of a database of the caller's workspace, those of one that was deleted included, newest first. @throws AppError as `requireDatastore` does. */
export function requireTransfers(context: AppContext, viewer: Viewer, { id, kind }: { id: string; kind: TransferKind }): StoredTransfer[] {
  const found = transfersOf(context.db, id).filter((one) => one.kind === kind && one.status !== 'removing')
  const [first] = found
  const isVisible = first?.workspaceId === viewer.workspaceId && isWithin(viewer.scope, { id, environmentId: first.environmentId })
  if (findDatastore(context.db, viewer.workspaceId, id) !== undefined || !isVisible) requireDatastore(context, viewer, id, 'postgres')
  else refuseProtected(context.db, viewer, first.environmentId)
  return found
}

interface Named {
  id: string
  kind: TransferKind
  transferId: string
}

/** One transfer of a database. @throws AppError not_found. */
export function requireTransfer(context: AppContext, viewer: Viewer, { transferId, ...of }: Named): StoredTransfer {
  const found = requireTransfers(context, viewer, of).find(({ id }) => id === transferId)
  if (found !== undefined) return found
  throw new AppError('not_found', `The database has no ${of.kind} ${transferId}. It is forgotten some days after its end.`)
}

/** @throws AppError conflict for a database that does not run, or with as many exports as it can have. */
export function requestExport(context: AppContext, datastore: StoredDatastore): StoredTransfer {
  const kept = transfersOf(context.db, datastore.id).filter(
    ({ kind, status }) => kind === 'export' && status !== 'failed' && status !== 'canceled',
  )
  if (kept.length >= mostExports)
    throw new AppError('conflict', `${datastore.name} has ${kept.length} exports, as many as are kept. Delete one, then try again.`)
  return request(context, datastore, { kind: 'export' })
}

/** @throws AppError validation_failed for a string that names no database that may be connected to. */
export function requestImport(context: AppContext, datastore: StoredDatastore, { url, clean = false }: PostgresImportBody): StoredTransfer {
  const { host } = parseSource(url, policyOf(context.config))
  return request(context, datastore, { kind: 'import', isClean: clean, sourceHost: host, url })
}

type Wanted = Pick<NewTransfer, 'kind'> & Partial<Pick<NewTransfer, 'id' | 'isClean' | 'sourceHost' | 'sizeBytes'>> & { url?: string }

/** Writes a transfer down; it begins when the change is made. @throws AppError conflict while another is under way. */
export function request(context: AppContext, datastore: StoredDatastore, { url, ...wanted }: Wanted): StoredTransfer {
  const { db, sealer } = context
  refuseBusy(context, datastore)
  const id = wanted.id ?? newTransferId(context, wanted.kind)
  const { id: datastoreId, workspaceId, environmentId } = datastore
  return inOneChange(db, () => {
    const sourceSealed = url === undefined ? null : sealer.seal(url, sourcePurpose(id))
    insertTransfer(db, {
      ...wanted,
      id,
      datastoreId,
      workspaceId,
      environmentId,
      sourceSealed,
      number: nextUid(db),
      createdAt: context.now(),
    })
    context.work.poke('datastore', datastoreId)
    return stored(context, id)
  })
}

export const newTransferId = ({ now }: Pick<AppContext, 'now'>, kind: TransferKind): string =>
  newId(kind === 'export' ? 'postgresExport' : 'postgresImport', now())

/** @throws AppError conflict for a database that does not run, and while another transfer is under way. */
export function refuseBusy(context: AppContext, datastore: StoredDatastore): void {
  if (datastore.primaryId !== null)
    throw new AppError(
      'conflict',
      `${datastore.name} is a read replica. Name its primary ${datastore.primaryId}, which has the same in it.`,
    )
  refuseUnlessReady(datastore)
  requireEndpoint(context, datastore)
  const busy = transfersOf(context.db, datastore.id).find(({ status }) => status === 'waiting' || status === 'running')
  if (busy !== undefined)
    throw new AppError('conflict', `The ${busy.kind} ${busy.id} of ${datastore.name} is under way. Wait for its end, or cancel it.`)
}

/** @throws AppError conflict for one that has ended. */
export function cancelTransfer(context: AppContext, { id, kind, status }: StoredTransfer): StoredTransfer {
  if (status !== 'waiting' && status !== 'running') throw new AppError('conflict', `The ${kind} ${id} has ended: it is ${status}.`)
  updateTransfer(context.db, id, status === 'waiting' ? { status: 'canceled', completedAt: context.now(), sourceSealed: null } : {})
  context.work.cancelTransfer(id)
  return stored(context, id)
}

/** Has an export be removed with its file, one that is being made included. */
export function removeTransfer(context: AppContext, { id, datastoreId }: StoredTransfer): void {
  updateTransfer(context.db, id, { status: 'removing' })
  context.work.cancelTransfer(id)
  context.work.poke('datastore', datastoreId)
}

function stored({ db }: Pick<AppContext, 'db'>, id: string): StoredTransfer {
  const found = transferById(db, id)
  if (found === undefined) throw new AppError('not_found', `There is no transfer ${id} any more.`)
  return found
}
