/** A backup at rest is zstd in age (https://age-encryption.org/v1): `age -d -i key FILE | zstd -d` opens it without us. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { Readable, Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { Decrypter, Encrypter } from 'age-encryption'
import { AppError, messageOf } from '../../../../shared/error.ts'
import { DIGEST_LENGTH } from './layout.ts'

export type Bytes = ReadableStream<Uint8Array>
export type Source = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

export interface Packed {
  /** Beginning of the SHA-256 of the plain content. */
  digest: string
  plainBytes: number
  packedBytes: number
}

/** What cannot be opened, or is not what was stored. */
export class BackupDamaged extends AppError {
  readonly reason: string
  constructor(reason: string, cause?: unknown) {
    super('unavailable', `The backup is damaged: ${reason}`, { cause })
    this.reason = reason
  }
}

/** Packs a stream into a new file, which is on the disk when this returns. Memory is bounded. @throws the stream's error; the file is the caller's to remove. */
export async function packFile(
  source: Source,
  path: string,
  { recipient, signal }: { recipient: string; signal?: AbortSignal },
): Promise<Packed> {
  const encrypter = new Encrypter()
  encrypter.addRecipient(recipient)
  const plain = counted()
  const packed = counted()
  const compress = createZstdCompress()
  const options = signal === undefined ? {} : { signal }
  const compressed = pipeline(source, plain.through, compress, options)
  // Its failure is that of the whole, which is waited for below.
  compressed.catch((error) => compress.destroy(error))
  const encrypted = await encrypter.encrypt(Readable.toWeb(compress) as unknown as Bytes)
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true })
  await Promise.all([compressed, pipeline(Readable.fromWeb(encrypted as NodeStream), packed.through, file, options)])
  return { digest: plain.digest(), plainBytes: plain.bytes(), packedBytes: packed.bytes() }
}

/** The plain content of what is small enough to be held. @throws BackupDamaged for what this identity does not open, and what is larger. */
export async function readPacked(source: Bytes, identity: string, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const part of await plainOf(source, identity)) {
      bytes += part.length
      if (bytes > maxBytes) throw new BackupDamaged('it is larger than anything of the kind')
      parts.push(part)
    }
  } catch (cause) {
    throw explained(cause)
  }
  return Buffer.concat(parts)
}

/** The plain content of a packed file. Its stream fails with BackupDamaged where that is not the content of this digest. */
export async function unpackFile(source: string | Bytes, { identity, digest }: { identity: string; digest: string }): Promise<Readable> {
  const file = typeof source === 'string' ? (Readable.toWeb(createReadStream(source)) as unknown as Bytes) : source
  const content = await plainOf(file, identity).catch((cause) => {
    throw explained(cause)
  })
  const plain = counted()
  pipeline(content, plain.through).catch((cause) => plain.through.destroy(cause))
  return Readable.from(checked(plain, digest), { objectMode: false })
}

async function plainOf(packed: Bytes, identity: string): Promise<Readable> {
  const decrypter = new Decrypter()
  decrypter.addIdentity(identity)
  const content = createZstdDecompress()
  pipeline(Readable.fromWeb((await decrypter.decrypt(packed)) as NodeStream), content).catch((cause) => content.destroy(cause))
  return content
}

async function* checked(plain: ReturnType<typeof counted>, digest: string): AsyncGenerator<Uint8Array> {
  try {
    yield* plain.through
  } catch (cause) {
    throw explained(cause)
  }
  if (plain.digest() !== digest) throw new BackupDamaged('its content is not what was stored under this name')
}

/** Reads a packed file to its end for nothing but its soundness. @throws BackupDamaged */
export async function checkFile(source: string | Bytes, opened: { identity: string; digest: string }): Promise<void> {
  const nowhere = new Writable({ write: (_chunk, _, done) => done() })
  await pipeline(await unpackFile(source, opened), nowhere)
}

function explained(cause: unknown): unknown {
  if (cause instanceof BackupDamaged) return cause
  const words = messageOf(cause)
  if (/no identity matched/i.test(words)) return new BackupDamaged('it was encrypted for another key', cause)
  if (cause instanceof Error && 'syscall' in cause) return cause
  return new BackupDamaged(`it cannot be opened (${words})`, cause)
}

function counted() {
  const hash = createHash('sha256')
  let total = 0
  const through = new Transform({
    transform(chunk: Uint8Array, _, done) {
      hash.update(chunk)
      total += chunk.length
      done(null, chunk)
    },
  })
  let digest: string | undefined
  return {
    through,
    bytes: () => total,
    digest() {
      digest ??= hash.digest('hex').slice(0, DIGEST_LENGTH)
      return digest
    },
  }
}
