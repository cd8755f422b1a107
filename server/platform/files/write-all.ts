import type { FileHandle } from 'node:fs/promises'

/** Writes every byte at the handle's position; a single `write` may stop short of that. */
export async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const result = await handle.write(bytes, written, bytes.length - written)
    written += result.bytesWritten
  }
}
