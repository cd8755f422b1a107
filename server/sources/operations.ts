import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Source } from '../../shared/deploy.ts'
import { AppError } from '../../shared/error.ts'
import type { Context } from '../context.ts'
import { newId } from '../id.ts'
import { servicePathsOf } from '../paths.ts'
import { ensureServiceFolders } from '../services/folders.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import { extractArchive } from './extract.ts'
import { DEFAULT_EXTRACT_LIMITS } from './extract-rules.ts'
import { receiveUpload } from './receive.ts'
import { insertSource, type StoredSource, sourceFile } from './store.ts'

const MIB = 1024 * 1024

export interface Upload {
  service: StoredService
  body: ReadableStream<Uint8Array>
  contentType: string
  expectedBytes?: number
  signal: AbortSignal
}

/** Where a source is unpacked while it waits for the deploy that builds it. */
export const unpackedDir = (context: Pick<Context, 'paths'>, source: Pick<StoredSource, 'id' | 'serviceId'>): string =>
  join(servicePathsOf(context.paths, source.serviceId).builds, source.id)

/**
 * Takes an uploaded archive in: streamed to disk, unpacked once to see that it can be, and kept. Nothing stays of one that is refused.
 *
 * @throws AppError bad_request, payload_too_large or unsupported_media_type, saying what is wrong with it.
 */
export async function takeSource(context: Context, upload: Upload): Promise<StoredSource> {
  const { service, signal } = upload
  const received = await receiveUpload({ ...upload, maxBytes: context.config.CP_UPLOAD_MAX_MB * MIB, uploadsDir: context.paths.uploads })
  const source = { id: newId('source'), serviceId: service.id, format: received.format }
  try {
    await ensureServiceFolders(context.paths, service)
    const into = unpackedDir(context, source)
    const unpacked = await extractArchive({ ...received, into, limits: extractLimits(context), signal })
    const stored: StoredSource = { ...source, ...pick(received), fileCount: unpacked.fileCount, createdAt: context.now() }
    await rename(received.path, sourceFile(context.paths, stored))
    keep(context, stored)
    return stored
  } catch (error) {
    await rm(unpackedDir(context, source), { recursive: true, force: true })
    await rm(sourceFile(context.paths, source), { force: true })
    throw error
  } finally {
    await rm(received.path, { force: true })
  }
}

/** The unpacked files of a source, from its upload or from the kept archive, moved to `into`. */
export async function unpackSource(
  context: Context,
  source: StoredSource,
  { into, signal }: { into: string; signal: AbortSignal },
): Promise<void> {
  await rm(into, { recursive: true, force: true })
  await mkdir(join(into, '..'), { recursive: true })
  const isThere = await rename(unpackedDir(context, source), into).then(
    () => true,
    () => false,
  )
  if (isThere) return
  const path = sourceFile(context.paths, source)
  await extractArchive({ path, format: source.format, into, limits: extractLimits(context), signal })
}

/** A source as the API sends it. */
export const presentSource = ({ id, sha256, sizeBytes, fileCount }: StoredSource): Source => ({ id, sha256, sizeBytes, fileCount })

const pick = ({ sha256, sizeBytes }: { sha256: string; sizeBytes: number }): { sha256: string; sizeBytes: number } => ({
  sha256,
  sizeBytes,
})

const extractLimits = (context: Context): typeof DEFAULT_EXTRACT_LIMITS => ({
  ...DEFAULT_EXTRACT_LIMITS,
  maxBytes: context.config.CP_SOURCE_MAX_MB * MIB,
})

/** The service may have been deleted while the upload came in. */
function keep(context: Context, source: StoredSource): void {
  context.db.transaction(() => {
    if (serviceById(context.db, source.serviceId)?.deletedAt !== null) throw new AppError('not_found', 'The service was deleted meanwhile.')
    insertSource(context.db, source)
  })()
}
