import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type Header, type Pack, pack } from 'tar-stream'
import { messageOf } from '../../shared/error.ts'
import { CliError } from '../base/error.ts'
import type { SourceFile } from './files.ts'

/** Files up to this size are read in one piece, in bytes. */
const WHOLE_READ_BYTES = 1024 * 1024
const CHUNK_BYTES = 256 * 1024
/** Fast, and within some percent of the default level's size for source code. */
const GZIP_LEVEL = 4

export interface PackOptions {
  /** Called as bytes of files go in, before compression. */
  onProgress?: (bytes: number) => void
  onError: (error: CliError) => void
}

/** A tar.gz of the files, made as it is read: nothing is held in memory but what is on its way. */
export function packSource(files: readonly SourceFile[], options: PackOptions): ReadableStream<Uint8Array> {
  const tar = pack()
  const gzip = createGzip({ level: GZIP_LEVEL })
  let isAbandoned = false
  // Breaks when the reader goes away or a file cannot be read; both ends know by then.
  tar.on('error', () => undefined)
  pipeline(tar, gzip).catch(() => undefined)
  addAll(tar, files, options).catch((error: unknown) => {
    tar.destroy()
    const reason = messageOf(error)
    if (!isAbandoned) options.onError(error instanceof CliError ? error : new CliError('bad_request', reason, { cause: error }))
  })
  return readerOf(gzip[Symbol.asyncIterator](), () => {
    isAbandoned = true
  })
}

/** Reads only as fast as it is read itself, and ends the source when its reader goes away. */
function readerOf(source: AsyncIterator<Uint8Array>, onCancel: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const next = await source.next()
      if (next.done) controller.close()
      else controller.enqueue(next.value)
    },
    async cancel() {
      onCancel()
      await source.return?.()
    },
  })
}

async function addAll(tar: Pack, files: readonly SourceFile[], { onProgress }: PackOptions): Promise<void> {
  for (const file of files) {
    if (tar.destroyed) return
    if (file.kind === 'link') await add(tar, { name: file.path, type: 'symlink', linkname: file.target, mtime: file.modifiedAt })
    else await addFile(tar, file, onProgress ?? (() => undefined))
  }
  tar.finalize()
}

type RegularFile = Extract<SourceFile, { kind: 'file' }>

async function addFile(tar: Pack, file: RegularFile, onProgress: (bytes: number) => void): Promise<void> {
  const header = { name: file.path, type: 'file' as const, mode: file.isExecutable ? 0o755 : 0o644, mtime: file.modifiedAt }
  if (file.sizeBytes <= WHOLE_READ_BYTES) {
    const content = await readFile(file.absolutePath)
    await add(tar, { ...header, size: content.length }, content)
    return onProgress(content.length)
  }
  await pipeline(contentOf(file, onProgress), tar.entry({ ...header, size: file.sizeBytes }))
}

/** The entry's header has promised as many bytes as were there when the folder was read. */
async function* contentOf({ path, absolutePath, sizeBytes }: RegularFile, onProgress: (bytes: number) => void): AsyncGenerator<Buffer> {
  let sentBytes = 0
  for await (const chunk of createReadStream(absolutePath, { end: sizeBytes - 1, highWaterMark: CHUNK_BYTES })) {
    const bytes = chunk as Buffer
    sentBytes += bytes.length
    onProgress(bytes.length)
    yield bytes
  }
  if (sentBytes !== sizeBytes) {
    throw new CliError('conflict', `${path} became shorter while it was packed.`, {
      hint: 'Deploy again when nothing writes into the folder.',
    })
  }
}

/** Waits until the reader has room, so that many small files are not gathered in memory either. */
async function add(tar: Pack, header: Partial<Header> & Pick<Header, 'name'>, content?: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const entry = tar.entry(header, (error) => (error ? reject(error) : resolve()))
  entry.on('error', reject)
  if (header.type !== 'symlink') entry.end(content)
  await promise
}
