import { renameSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Source, UploadLimits } from '../../../shared/deploy.ts'
import { AppError } from '../../../shared/error.ts'
import type { Source as BuilderSource } from '../../builders/port.ts'
import { extractIsolated } from '../../platform/archives/isolated.ts'
import { DEFAULT_EXTRACT_LIMITS } from '../../platform/archives/rules.ts'
import { removeTree } from '../../platform/files/tree/remove.ts'
import { newId } from '../../platform/id.ts'
import { servicePathsOf, temporaryIn } from '../../platform/paths.ts'
import { ensureServiceFolders } from '../../platform/service-folders.ts'
import { whileThereIsRoom } from '../../runtime/space/room.ts'
import type { AppContext } from '../context.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import { receiveUpload } from './receive.ts'
import { insertSource, noCommit, type StoredSource, sourceFile } from './store.ts'

const MIB = 1024 * 1024

export interface Upload<T> {
  service: StoredService
  body: ReadableStream<Uint8Array>
  contentType: string
  expectedBytes?: number
  signal: AbortSignal
  commit?: Pick<StoredSource, keyof typeof noCommit>
  requireRight(): void
  change<R>(apply: () => R): R
  onKept(source: StoredSource): T
}

const unpackedDir = (context: Pick<AppContext, 'paths'>, source: Pick<StoredSource, 'id' | 'serviceId'>): string =>
  join(servicePathsOf(context.paths, source.serviceId).builds, source.id)

/**
 * @throws AppError bad_request, payload_too_large or unsupported_media_type for a bad archive; not_found when the service was deleted
 * meanwhile; unavailable without room.
 */
export function takeSource<T>(context: AppContext, upload: Upload<T>): Promise<T> {
  const need = { what: 'the upload', advice: 'Its operator has to free some; nothing was kept.', bytes: upload.expectedBytes }
  return whileThereIsRoom(context, need, (short) => take(context, { ...upload, signal: AbortSignal.any([upload.signal, short]) }))
}

/**
 * Lets somebody look at an upload of which nothing is kept.
 * @throws AppError as `takeSource`, and whatever `look` throws.
 */
export function lookAtUpload<T>(
  context: AppContext,
  upload: Pick<Upload<T>, 'body' | 'contentType' | 'expectedBytes' | 'signal'>,
  look: (source: BuilderSource, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const need = { what: 'the upload', advice: 'Its operator has to free some.', bytes: upload.expectedBytes }
  return whileThereIsRoom(context, need, async (short) => {
    const signal = AbortSignal.any([upload.signal, short])
    const received = await receiveUpload({ ...upload, ...receivingIn(context), signal })
    const limits = extractLimits(context)
    const { sha256 } = received
    try {
      return await look(
        { sha256, unpack: async (into, until) => void (await extractIsolated({ ...received, into, limits, signal: until })) },
        signal,
      )
    } finally {
      await rm(received.path, { force: true })
    }
  })
}

const receivingIn = ({ paths, config }: Pick<AppContext, 'paths' | 'config'>) => ({
  maxBytes: config.CP_UPLOAD_MAX_MB * MIB,
  uploadsDir: paths.uploads,
})

async function take<T>(context: AppContext, upload: Upload<T>): Promise<T> {
  const { service, signal } = upload
  const received = await receiveUpload({ ...upload, ...receivingIn(context) })
  const into = temporaryIn(context.paths)
  const { sha256, sizeBytes, format } = received
  const begun = { id: newId('source'), serviceId: service.id, sha256, sizeBytes, format }
  const kept = { archive: sourceFile(context.paths, begun), unpacked: unpackedDir(context, begun) }
  try {
    const { fileCount } = await extractIsolated({ ...received, into, limits: extractLimits(context), signal })
    upload.requireRight()
    refuseDeleted(context, service.id)
    await ensureServiceFolders(context.paths, service)
    const source = { ...begun, ...(upload.commit ?? noCommit), fileCount, createdAt: context.now() }
    return upload.change(() => {
      refuseDeleted(context, service.id)
      // Files first, then their row: a kill in between leaves files that the next prune removes, never a row without its files.
      // In one turn of the event loop, so that no prune comes between the two.
      renameSync(received.path, kept.archive)
      renameSync(into, kept.unpacked)
      insertSource(context.db, source)
      return upload.onKept(source)
    })
  } catch (error) {
    for (const path of [received.path, into, kept.archive, kept.unpacked]) await removeTree(path)
    // The deletion may have been over before we made the service's folders.
    if (serviceById(context.db, service.id) === undefined) await removeTree(servicePathsOf(context.paths, service.id).root)
    throw error
  }
}

function refuseDeleted(context: AppContext, serviceId: string): void {
  if (serviceById(context.db, serviceId)?.deletedAt !== null) throw new AppError('not_found', 'The service was deleted meanwhile.')
}

const roomForBuild = { what: 'a build', advice: 'Its operator has to free some. Deploy again when that is done.' }

export const openSource = (context: AppContext, source: StoredSource): BuilderSource => ({
  sha256: source.sha256,
  unpack: (into, signal) =>
    whileThereIsRoom(context, roomForBuild, (short) => unpack(context, source, { into, signal: AbortSignal.any([signal, short]) })),
})

async function unpack(context: AppContext, source: StoredSource, { into, signal }: { into: string; signal: AbortSignal }): Promise<void> {
  await removeTree(into)
  await mkdir(join(into, '..'), { recursive: true })
  const isThere = await rename(unpackedDir(context, source), into).then(
    () => true,
    () => false,
  )
  if (isThere) return
  const path = sourceFile(context.paths, source)
  await extractIsolated({ path, format: source.format, into, limits: extractLimits(context), signal })
}

export const presentSource = ({ id, sha256, sizeBytes, fileCount }: StoredSource): Source => ({ id, sha256, sizeBytes, fileCount })

export function uploadLimits(context: Pick<AppContext, 'config'>): UploadLimits {
  const { maxBytes: maxUnpackedBytes, maxFiles } = extractLimits(context)
  return { maxBytes: context.config.CP_UPLOAD_MAX_MB * MIB, maxUnpackedBytes, maxFiles }
}

export const extractLimits = (context: Pick<AppContext, 'config'>): typeof DEFAULT_EXTRACT_LIMITS => ({
  ...DEFAULT_EXTRACT_LIMITS,
  maxBytes: context.config.CP_SOURCE_MAX_MB * MIB,
})
