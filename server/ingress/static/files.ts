import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { ByteCache } from './byte-cache.ts'
import { contentTypeOf, isCompressible } from './content-type.ts'
import { compress, type Encoding, encodedSuffix } from './encoding.ts'
import { openInside } from './open-inside.ts'

/** A release of a static site. It never changes, so what was read of it once holds for as long as it is served. */
export interface Release {
  releaseId: string
  root: string
}

export interface SiteFile {
  release: Release
  /** Below the root of the release. */
  path: string
  sizeBytes: number
  /** Whole seconds, in milliseconds since 1970. */
  modifiedAt: number
  contentType: string
  /** Present while it is small. */
  bytes: Buffer | undefined
}

export type Found = { kind: 'file'; file: SiteFile } | { kind: 'directory' }

const CACHE_BYTES = 32 * 1024 * 1024
const ENTRY_BYTES = 512
/** Files up to this size are kept in memory. */
const SMALL_BYTES = 64 * 1024
/** Smaller ones gain nothing by compression, larger ones take too long while somebody waits. */
const COMPRESSED_FROM_BYTES = 1024
const COMPRESSED_TO_BYTES = 1024 * 1024

const NOT_WORTH_IT = Buffer.alloc(0)

/** Reads files of releases, keeping small and compressed ones in memory. */
export class StaticFiles {
  readonly log: (line: string) => void
  readonly #found = new ByteCache<Found>(CACHE_BYTES)
  /** NOT_WORTH_IT where there is no smaller form. */
  readonly #encoded = new ByteCache<Buffer>(CACHE_BYTES)
  readonly #compressing = new Map<string, Promise<Buffer | undefined>>()

  constructor(log: (line: string) => void) {
    this.log = log
  }

  async find(release: Release, segments: readonly string[]): Promise<Found | undefined> {
    const path = segments.join('/')
    const key = keyOf(release, path)
    const known = this.#found.get(key)
    if (known !== undefined) return known
    const handle = await openInside(release.root, join(release.root, path))
    if (handle === undefined) return undefined
    try {
      const found = await inspect(handle, release, path)
      if (found !== undefined) this.#found.set(key, found, ENTRY_BYTES + (found.kind === 'file' ? (found.file.bytes?.length ?? 0) : 0))
      return found
    } finally {
      await handle.close()
    }
  }

  /** The file compressed, by whoever built it or by us; undefined where that does not pay. */
  async encoded(file: SiteFile, encoding: Encoding): Promise<Buffer | undefined> {
    if (!isCompressible(file.contentType) || file.sizeBytes < COMPRESSED_FROM_BYTES) return undefined
    const key = keyOf(file.release, file.path + encodedSuffix[encoding])
    const known = this.#encoded.get(key)
    if (known !== undefined) return known === NOT_WORTH_IT ? undefined : known
    const running = this.#compressing.get(key) ?? this.#encode(file, encoding)
    this.#compressing.set(key, running)
    try {
      const bytes = await running
      this.#encoded.set(key, bytes ?? NOT_WORTH_IT, ENTRY_BYTES + (bytes?.length ?? 0))
      return bytes
    } finally {
      this.#compressing.delete(key)
    }
  }

  /** Opens a file that was found, to be closed by the caller. */
  async open(file: SiteFile): Promise<FileHandle> {
    const handle = await openInside(file.release.root, join(file.release.root, file.path))
    if (handle === undefined) throw new Error(`${file.path} has gone from release ${file.release.releaseId}`)
    return handle
  }

  async #encode(file: SiteFile, encoding: Encoding): Promise<Buffer | undefined> {
    const ready = await this.find(file.release, [file.path + encodedSuffix[encoding]])
    if (ready?.kind === 'file' && ready.file.sizeBytes <= COMPRESSED_TO_BYTES) return this.#read(ready.file)
    if (file.sizeBytes > COMPRESSED_TO_BYTES) return undefined
    const bytes = await compress(await this.#read(file), encoding)
    return bytes.length < file.sizeBytes ? bytes : undefined
  }

  async #read(file: SiteFile): Promise<Buffer> {
    if (file.bytes !== undefined) return file.bytes
    const handle = await this.open(file)
    try {
      return await handle.readFile()
    } finally {
      await handle.close()
    }
  }
}

async function inspect(handle: FileHandle, release: Release, path: string): Promise<Found | undefined> {
  const stats = await handle.stat()
  if (stats.isDirectory()) return { kind: 'directory' }
  if (!stats.isFile()) return undefined
  const bytes = stats.size <= SMALL_BYTES ? await handle.readFile() : undefined
  const modifiedAt = Math.floor(stats.mtimeMs / 1000) * 1000
  return {
    kind: 'file',
    file: { release, path, sizeBytes: bytes?.length ?? stats.size, modifiedAt, contentType: contentTypeOf(path), bytes },
  }
}

function keyOf(release: Release, path: string): string {
  return `${release.releaseId}\0${release.root}\0${path}`
}
