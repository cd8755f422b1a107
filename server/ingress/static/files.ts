import type { FileHandle } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { ByteCache } from './byte-cache.ts'
import { contentTypeOf, isCompressible } from './content-type.ts'
import { type Coding, compress, type Encoding, encodedSuffix } from './encoding.ts'
import { Holdings } from './holdings.ts'
import { OpenFiles, type Readable } from './open-files.ts'
import { openInside } from './open-inside.ts'
import { PIECE_BYTES, type Pieces, readPieces, toPieces } from './pieces.ts'
import { FairScheduler } from './scheduler.ts'

/** A release of a static site. It never changes, so what was read of it once holds for as long as it is served. */
export interface Release {
  releaseId: string
  root: string
}

export interface SiteFile {
  release: Release
  path: string
  sizeBytes: number
  /** Whole seconds, in milliseconds since 1970. */
  modifiedAt: number
  contentType: string
  keys: Readonly<Record<Coding, string>>
}

export type Found = { kind: 'file'; file: SiteFile } | { kind: 'directory' }

const FOUND_BYTES = 8 * 1024 * 1024
const CONTENT_BYTES = 64 * 1024 * 1024
const ENTRY_BYTES = 1024
const KEPT_BYTES = 4 * 1024 * 1024
const LOADING_BYTES = 16 * 1024 * 1024
/** Smaller ones gain nothing by compression, larger ones take too long while somebody waits. */
const COMPRESSED_FROM_BYTES = 1024
const COMPRESSED_TO_BYTES = 1024 * 1024

const GONE_BYTES = 64 * 1024 * 1024
/** Sites take turns; half of the processors stay for those who only read. What cannot wait is sent as it is. */
const COMPRESSIONS = { running: Math.max(1, availableParallelism() >> 1), waitingPerOwner: 4, waiting: 32 }
const SEARCHES = { running: 32, waitingPerOwner: 20_000, waiting: 40_000 }

export const NOT_WORTH_IT: Pieces = { sizeBytes: 0, parts: [] }

export class StaticFiles {
  readonly log: (line: string) => void
  readonly #found = new ByteCache<Found>(FOUND_BYTES)
  readonly holdings = new Holdings(GONE_BYTES)
  readonly openFiles = new OpenFiles()
  readonly #content = new ByteCache<Pieces>(CONTENT_BYTES, (pieces) => this.holdings.left(pieces))
  readonly #compressions = new FairScheduler(COMPRESSIONS)
  readonly #searches = new FairScheduler(SEARCHES)
  readonly #loading = new Map<string, Promise<Pieces>>()
  #loadingBytes = 0

  constructor(log: (line: string) => void) {
    this.log = log
  }

  async find(release: Release, segments: readonly string[]): Promise<Found | undefined> {
    const path = segments.join('/')
    const key = keyOf(release, path)
    const known = this.#found.get(key)
    if (known !== undefined) return known
    const search = this.#searches.run(release.root, () => this.#search(release, path, key))
    if (search === undefined) throw new Error('too much is asked for at once')
    return search
  }

  async #search(release: Release, path: string, key: string): Promise<Found | undefined> {
    const handle = await openInside(release.root, join(release.root, path))
    if (handle === undefined) return undefined
    try {
      const found = await inspect(handle, release, path)
      if (found !== undefined) this.#found.set(key, found, ENTRY_BYTES + 2 * key.length)
      if (found?.kind === 'file' && found.file.sizeBytes <= PIECE_BYTES && !this.holdings.isFull)
        this.#keep(found.file.keys.identity, await readPieces(handle, found.file.sizeBytes))
      return found
    } finally {
      await handle.close()
    }
  }

  kept(file: SiteFile, coding: Coding): Pieces | undefined {
    if (coding !== 'identity' && !gainsByCompression(file)) return NOT_WORTH_IT
    return this.#content.get(file.keys[coding])
  }

  async content(file: SiteFile): Promise<Pieces | undefined> {
    const known = this.kept(file, 'identity') ?? this.#loading.get(file.keys.identity)
    if (known !== undefined) return known
    if (!isKept(file) || this.holdings.isFull || !this.#canLoad(file)) return undefined
    return this.#load(file.keys.identity, file.sizeBytes, this.#read(file))
  }

  async encoded(file: SiteFile, encoding: Encoding): Promise<Pieces | undefined> {
    const key = file.keys[encoding]
    const known = this.kept(file, encoding) ?? this.#loading.get(key)
    if (known !== undefined || this.holdings.isFull) return known
    const ready = await this.find(file.release, [file.path + encodedSuffix[encoding]])
    const loading = this.#loading.get(key)
    if (loading !== undefined) return loading
    if (ready?.kind === 'file' && ready.file.sizeBytes <= COMPRESSED_TO_BYTES) {
      return this.#canLoad(ready.file) ? this.#load(key, ready.file.sizeBytes, this.#read(ready.file)) : undefined
    }
    if (file.sizeBytes > COMPRESSED_TO_BYTES) {
      this.#keep(key, NOT_WORTH_IT)
      return NOT_WORTH_IT
    }
    const turn = this.#compressions.run(file.release.root, () => this.#compress(file, encoding))
    return turn && this.#load(key, 0, turn)
  }

  readable(file: SiteFile): Readable {
    return { key: file.keys.identity, open: () => this.#open(file) }
  }

  async #open(file: SiteFile): Promise<FileHandle> {
    const handle = await openInside(file.release.root, join(file.release.root, file.path))
    if (handle === undefined) throw new Error(`${file.path} has gone from release ${file.release.releaseId}`)
    return handle
  }

  #canLoad({ sizeBytes }: SiteFile): boolean {
    return this.#loadingBytes + sizeBytes <= LOADING_BYTES
  }

  #keep(key: string, pieces: Pieces): void {
    this.#content.set(key, pieces, ENTRY_BYTES + pieces.sizeBytes)
  }

  async #load(key: string, sizeBytes: number, loading: Promise<Pieces>): Promise<Pieces> {
    this.#loading.set(key, loading)
    this.#loadingBytes += sizeBytes
    try {
      const pieces = await loading
      this.#keep(key, pieces)
      return pieces
    } finally {
      this.#loading.delete(key)
      this.#loadingBytes -= sizeBytes
    }
  }

  async #compress(file: SiteFile, encoding: Encoding): Promise<Pieces> {
    const { parts } = await this.#read(file)
    const bytes = await compress(Buffer.concat(parts), encoding)
    return bytes.length < file.sizeBytes ? toPieces(bytes) : NOT_WORTH_IT
  }

  async #read(file: SiteFile): Promise<Pieces> {
    const kept = this.kept(file, 'identity')
    if (kept !== undefined) return kept
    const handle = await this.#open(file)
    try {
      return await readPieces(handle, file.sizeBytes)
    } finally {
      await handle.close()
    }
  }
}

export function isKept({ sizeBytes }: SiteFile): boolean {
  return sizeBytes <= KEPT_BYTES
}

function gainsByCompression({ contentType, sizeBytes }: SiteFile): boolean {
  return sizeBytes >= COMPRESSED_FROM_BYTES && isCompressible(contentType)
}

async function inspect(handle: FileHandle, release: Release, path: string): Promise<Found | undefined> {
  const stats = await handle.stat()
  if (stats.isDirectory()) return { kind: 'directory' }
  if (!stats.isFile()) return undefined
  const modifiedAt = Math.floor(stats.mtimeMs / 1000) * 1000
  const key = keyOf(release, path)
  const keys = { identity: key, br: `${key}\0br`, zstd: `${key}\0zstd`, gzip: `${key}\0gzip` }
  return { kind: 'file', file: { release, path, sizeBytes: stats.size, modifiedAt, contentType: contentTypeOf(path), keys } }
}

function keyOf(release: Release, path: string): string {
  return `${release.releaseId}\0${release.root}\0${path}`
}
