import { constants } from 'node:fs'
import { open, opendir, rename, rm } from 'node:fs/promises'

/** Bun removes a tree in one go as far as this; below, it begins at the top again for each folder, and holds one of its few threads for hours. */
const MOST_LEVELS = 10
const FOLDER_ITSELF = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Bun opens each folder relative to the one before: what is exchanged for a link meanwhile is removed as one. The folder above is ours. */
export async function removeTree(path: string): Promise<void> {
  await within(path, raiseDeep).catch(() => {})
  await rm(path, { recursive: true, force: true })
}

async function raiseDeep(top: string): Promise<void> {
  const raised: string[] = []
  const raise = async (from: string) => {
    const name = crypto.randomUUID()
    if (await rename(from, `${top}/${name}`).catch(() => 'stays')) return
    raised.push(name)
  }
  await raiseBelow(top, 1, raise)
  for (let name = raised.pop(); name !== undefined; name = raised.pop())
    await within(`${top}/${name}`, (place) => raiseBelow(place, 2, raise))
}

async function raiseBelow(place: string, level: number, raise: (from: string) => Promise<void>): Promise<void> {
  for await (const entry of await opendir(place)) {
    if (!entry.isDirectory()) continue
    const path = `${place}/${entry.name}`
    if (level === MOST_LEVELS) await raise(path)
    else await within(path, (below) => raiseBelow(below, level + 1, raise))
  }
}

/** Opens a folder, and nothing that has taken its place, and gives it under a name that stays its own (proc_pid_fd(5)). */
async function within(path: string, act: (place: string) => Promise<void>): Promise<void> {
  const handle = await open(path, FOLDER_ITSELF).catch(() => undefined)
  try {
    if (handle !== undefined) await act(`/proc/self/fd/${handle.fd}`)
  } finally {
    await handle?.close()
  }
}
