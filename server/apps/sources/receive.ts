import { type FileHandle, lstat, mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import type { ArchiveFormat } from '../../platform/archives/archive.ts'
import { diskFull, isDiskFull } from '../../platform/files/disk-full.ts'
import { removeTree } from '../../platform/files/tree/remove.ts'
import { writeAll } from '../../platform/files/write-all.ts'
import { TEMPORARY_PREFIX, temporaryIn } from '../../platform/paths.ts'
import { multipartFile } from './receive-multipart.ts'

export interface ReceiveOptions {
  body: ReadableStream<Uint8Array>
  contentType: string
  maxBytes: number
  uploadsDir: string
  /** The Content-Length of a raw body, where the client sent one: fewer bytes mean that the upload was cut off. */
  expectedBytes?: number
  signal?: AbortSignal
}

export interface ReceivedUpload {
  path: string
  sha256: string
  sizeBytes: number
  format: ArchiveFormat
}

/** After any error the file is gone. @throws AppError unsupported_media_type, payload_too_large, bad_request or unavailable, as fits. */
export async function receiveUpload(options: ReceiveOptions): Promise<ReceivedUpload> {
  const declared = declaredFormat(options.contentType)
  const chunks = declared === 'form' ? multipartFile(options.body, options.contentType) : options.body
  const path = temporaryIn({ uploads: options.uploadsDir })
  try {
    const handle = await open(path, 'wx', 0o600)
    try {
      const stored = await store(chunks, handle, options)
      checkLength(stored.sizeBytes, declared === 'form' ? undefined : options.expectedBytes)
      const format = sniffFormat(stored.head)
      if (format === undefined || (declared !== 'form' && declared !== format)) throw unsupported()
      await handle.sync()
      return { path, sha256: stored.sha256, sizeBytes: stored.sizeBytes, format }
    } finally {
      await handle.close()
    }
  } catch (error) {
    await rm(path, { force: true })
    throw explain(error)
  }
}

/** Removes what uploads left when an earlier process died; uploads that changed since `before` (ms since 1970) go on. */
export async function sweepUploads(uploadsDir: string, before: number): Promise<void> {
  await mkdir(uploadsDir, { recursive: true, mode: 0o700 })
  for (const name of await readdir(uploadsDir)) {
    const path = join(uploadsDir, name)
    const isOld = ((await lstat(path).catch(() => undefined))?.mtimeMs ?? Infinity) < before
    if (isOld && name.startsWith(TEMPORARY_PREFIX)) await removeTree(path)
  }
}

const formatOfType: Readonly<Record<string, ArchiveFormat | 'form'>> = {
  'application/gzip': 'tar.gz',
  'application/x-gzip': 'tar.gz',
  'application/zip': 'zip',
  'multipart/form-data': 'form',
}

function declaredFormat(contentType: string): ArchiveFormat | 'form' {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const format = Object.hasOwn(formatOfType, type) ? formatOfType[type] : undefined
  if (format === undefined) throw unsupported()
  return format
}

function unsupported(): AppError {
  return new AppError(
    'unsupported_media_type',
    'Send a tar.gz as application/gzip, a zip as application/zip, or either of them in the field "file" of a multipart form',
  )
}

const HEAD_BYTES = 4

async function store(
  chunks: AsyncIterable<Uint8Array>,
  handle: FileHandle,
  { maxBytes, signal }: ReceiveOptions,
): Promise<{ sha256: string; sizeBytes: number; head: Uint8Array }> {
  const hasher = new Bun.CryptoHasher('sha256')
  let head = new Uint8Array()
  let sizeBytes = 0
  for await (const chunk of chunks) {
    signal?.throwIfAborted()
    sizeBytes += chunk.length
    if (sizeBytes > maxBytes)
      throw new AppError('payload_too_large', `The upload is larger than ${maxBytes} bytes; leave out what a build can make again`)
    if (head.length < HEAD_BYTES) head = new Uint8Array(Buffer.concat([head, chunk.subarray(0, HEAD_BYTES)]))
    hasher.update(chunk)
    await writeAll(handle, chunk)
  }
  signal?.throwIfAborted()
  return { sha256: hasher.digest('hex'), sizeBytes, head }
}

function checkLength(sizeBytes: number, expectedBytes: number | undefined): void {
  if (expectedBytes !== undefined && sizeBytes !== expectedBytes) throw cutOff()
  if (sizeBytes === 0) throw new AppError('bad_request', 'The upload is empty: send a tar.gz or zip of the source folder')
}

function cutOff(cause?: unknown): AppError {
  return new AppError('bad_request', 'The upload was cut off before its end; send it again', { cause })
}

const GZIP_MAGIC = [0x1f, 0x8b]
const ZIP_MAGIC = [0x50, 0x4b, 0x03, 0x04]

function sniffFormat(head: Uint8Array): ArchiveFormat | undefined {
  const startsWith = (magic: readonly number[]) => magic.every((byte, index) => head[index] === byte)
  if (startsWith(GZIP_MAGIC)) return 'tar.gz'
  return startsWith(ZIP_MAGIC) ? 'zip' : undefined
}

/** Errors of the disk are ours; any other means that the client's stream broke. */
function explain(error: unknown): unknown {
  if (error instanceof AppError) return error
  if (isDiskFull(error)) return diskFull(error)
  if (error instanceof Error && 'syscall' in error && 'path' in error) return error
  return cutOff(error)
}
