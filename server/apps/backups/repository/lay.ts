import { createWriteStream } from 'node:fs'
import { chown } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { isRoot } from '../../../platform/service-folders.ts'

/** Where what is restored is laid, decrypted, and for whom. */
export interface Material {
  folder: string
  uid: number
}

export interface LaidFile {
  path: string
  uid: number
}

export async function writeLaid(content: NodeJS.ReadableStream | AsyncIterable<Uint8Array>, { path, uid }: LaidFile): Promise<void> {
  await pipeline(content, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
  if (isRoot) await chown(path, uid, uid)
}
