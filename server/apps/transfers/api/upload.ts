import { renameSync, rmSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { AppError } from '../../../../shared/error.ts'
import { diskFull, isDiskFull } from '../../../platform/files/disk-full.ts'
import { writeAll } from '../../../platform/files/write-all.ts'
import { temporaryIn } from '../../../platform/paths.ts'
import { whileThereIsRoom } from '../../../runtime/space/room.ts'
import type { AppContext } from '../../context.ts'
import type { StoredDatastore } from '../../datastores/store.ts'
import type { StoredTransfer } from '../rows/store.ts'
import { formatOf, packingOf } from '../tools/format.ts'
import { headOf } from '../work/dump.ts'
import { fileOf } from '../work/folders.ts'
import { newTransferId, request } from './operations.ts'

const MIB = 1024 * 1024

export interface DumpUpload {
  datastore: StoredDatastore
  body: ReadableStream<Uint8Array>
  /** The Content-Length, where the client sent one: fewer bytes mean that the upload was cut off. */
  expectedBytes: number | undefined
  isClean: boolean
  signal: AbortSignal
  /** Makes the change with its audit entry; asks for the right again. */
  change(apply: () => StoredTransfer): StoredTransfer
}

/** Takes a dump and writes its import down. @throws AppError payload_too_large, bad_request for what is no dump, unavailable without room. */
export function takeDump(context: AppContext, upload: DumpUpload): Promise<StoredTransfer> {
  const need = { what: 'the dump', advice: 'Its operator has to free some; nothing was kept.', bytes: upload.expectedBytes }
  return whileThereIsRoom(context, need, (short) => take(context, { ...upload, signal: AbortSignal.any([upload.signal, short]) }))
}

async function take(context: AppContext, upload: DumpUpload): Promise<StoredTransfer> {
  const { datastore, isClean, change } = upload
  const path = temporaryIn(context.paths)
  const id = newTransferId(context, 'import')
  try {
    const sizeBytes = await receive(path, upload, context.config.CP_IMPORT_MAX_MB * MIB)
    const head = await headOf(path)
    if (packingOf(head) === undefined && formatOf(head) === undefined)
      throw new AppError(
        'bad_request',
        'This is no dump that can be imported. Make one by pg_dump --format=custom, and send the file as it is.',
      )
    return change(() => {
      // The file first, then its row: a kill in between leaves a file that the next start removes, never a row without its file.
      renameSync(path, fileOf(context.paths, { id }))
      return request(context, datastore, { id, kind: 'import', isClean, sizeBytes })
    })
  } catch (error) {
    await rm(path, { force: true })
    rmSync(fileOf(context.paths, { id }), { force: true })
    throw error
  }
}

async function receive(path: string, { body, expectedBytes, signal }: DumpUpload, maxBytes: number): Promise<number> {
  const handle = await open(path, 'wx', 0o600)
  let sizeBytes = 0
  try {
    for await (const chunk of body) {
      signal.throwIfAborted()
      sizeBytes += chunk.length
      if (sizeBytes > maxBytes)
        throw new AppError(
          'payload_too_large',
          `The dump is larger than ${maxBytes} bytes, which is CP_IMPORT_MAX_MB. Import the other database by its connection string instead.`,
        )
      await writeAll(handle, chunk)
    }
    signal.throwIfAborted()
    await handle.sync()
  } catch (error) {
    if (error instanceof AppError) throw error
    if (isDiskFull(error)) throw diskFull(error)
    throw cutOff(error)
  } finally {
    await handle.close()
  }
  if (sizeBytes === 0) throw new AppError('bad_request', 'The body is empty. Send the file that pg_dump made.')
  if (expectedBytes !== undefined && sizeBytes !== expectedBytes) throw cutOff()
  return sizeBytes
}

const cutOff = (cause?: unknown): AppError =>
  new AppError('bad_request', 'The upload was cut off before its end; send it again.', { cause })
