import type { FileHandle } from 'node:fs/promises'

/**
 * A slow client keeps alive what it has not taken yet, even when the cache has let go of it. So a file is kept in pieces of memory of
 * their own, and a client never holds more than one of them.
 */
export const PIECE_BYTES = 256 * 1024

export interface Pieces {
  sizeBytes: number
  parts: readonly Buffer[]
}

export async function readPieces(handle: FileHandle, sizeBytes: number): Promise<Pieces> {
  const parts: Buffer[] = []
  for (let at = 0; at < sizeBytes; at += PIECE_BYTES) {
    const part = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, sizeBytes - at))
    await readWhole(handle, part, at)
    parts.push(part)
  }
  return { sizeBytes, parts }
}

/** Takes the bytes apart, so that no piece keeps the others alive. */
export function toPieces(bytes: Buffer): Pieces {
  if (bytes.length <= PIECE_BYTES) return { sizeBytes: bytes.length, parts: [bytes] }
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const part = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, bytes.length - at))
    bytes.copy(part, 0, at)
    parts.push(part)
  }
  return { sizeBytes: bytes.length, parts }
}

export async function readWhole(handle: FileHandle, buffer: Buffer, at: number): Promise<void> {
  for (let count = 0; count < buffer.length; ) {
    const { bytesRead } = await handle.read(buffer, count, buffer.length - count, at + count)
    if (bytesRead === 0) throw new Error('the file is shorter than it was')
    count += bytesRead
  }
}
