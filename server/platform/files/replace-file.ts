import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

export interface ReplaceOptions {
  mode?: number
  /** The name of the new file until it is complete; default `.new` behind the path. Another for what two processes write. */
  incoming?: string
  /** Default true: it survives a loss of power once written. False where what it tells of ends with the power. */
  isDurable?: boolean
}

const OWNER_ONLY = 0o600

/** Replaces a small file at once, holding up everything else meanwhile. */
export function replaceFileSync(path: string, content: string | Uint8Array, options: ReplaceOptions = {}): void {
  const { mode, incoming, isDurable } = settled(path, options)
  // A leftover would keep its mode, or be a link that leads elsewhere.
  rmSync(incoming, { force: true })
  try {
    const descriptor = openSync(incoming, 'wx', mode)
    try {
      fchmodSync(descriptor, mode)
      writeFileSync(descriptor, content)
      if (isDurable) fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(incoming, path)
  } catch (error) {
    rmSync(incoming, { force: true })
    throw error
  }
  if (isDurable) syncFolder(dirname(path))
}

export async function replaceFile(path: string, content: string | Uint8Array, options: ReplaceOptions = {}): Promise<void> {
  const { mode, incoming, isDurable } = settled(path, options)
  await rm(incoming, { force: true })
  try {
    const handle = await open(incoming, 'wx', mode)
    try {
      await handle.chmod(mode)
      await handle.writeFile(content)
      if (isDurable) await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(incoming, path)
  } catch (error) {
    await rm(incoming, { force: true })
    throw error
  }
  if (isDurable) await syncFolderLater(dirname(path))
}

const settled = (path: string, { mode = OWNER_ONLY, incoming = `${path}.new`, isDurable = true }: ReplaceOptions) => ({
  mode,
  incoming,
  isDurable,
})

/** Names given and taken in a folder survive a loss of power once this has returned. */
export function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

async function syncFolderLater(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
