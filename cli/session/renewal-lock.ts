import { mkdir, open, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** What is locked takes one request; a lock that is older was left by a process that has ended. Milliseconds. */
export const STALE_MS = 45_000
const RETRY_MS = 50

/** Does `work` while no other process that asks for the same lock does its own. The lock is a file, which is there as long. */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  while (!(await isTaken(path))) {
    if (await isStale(path)) await rm(path, { force: true })
    else await Bun.sleep(RETRY_MS)
  }
  try {
    return await work()
  } finally {
    await rm(path, { force: true })
  }
}

async function isTaken(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function isStale(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs > STALE_MS
}
