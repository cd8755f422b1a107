/** The bound of the store. A fetch has its room before it begins: for that, what nobody needs goes, the one unused for longest first. */
import { join, relative } from 'node:path'
import { AppError } from '../../../../shared/error.ts'
import { sizeOfFolder } from '../../../platform/process/folder-size.ts'
import { createPlaces } from '../../../platform/work/places.ts'
import { type Entry, spareEntries, titleOf } from './rules.ts'
import type { ToolchainStore } from './store.ts'

export interface Keeping {
  maxBytes: number
  foldersInUse(): Iterable<string> | undefined
}

export interface Need {
  name: string
  mostBytes: number
  signal: AbortSignal
}

/** Does something once it has its room. @throws AppError `unavailable` where there is none, saying what to do. */
export type WithinRoom = <T>(need: Need, act: () => Promise<T>) => Promise<T>

interface Bounded extends Keeping {
  store: Pick<ToolchainStore, 'dir' | 'entries' | 'remove'>
  isHeld(name: string): boolean
}

const SIZE_TIMEOUT_MS = 30_000

export function boundRoom(bounded: Bounded): WithinRoom {
  const { store, maxBytes } = bounded
  const oneAtATime = createPlaces(1)
  const sizes = new Map<string, number>()
  let promised = 0

  async function makeRoom({ name, mostBytes, signal }: Need): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const entries = await store.entries()
      const sum = await sumOf(entries, { mostBytes, signal })
      if (sum + promised + mostBytes <= maxBytes) break
      const [spare] = spareEntries(entries, { named: namedIn(bounded), isHeld: bounded.isHeld, now: Date.now() })
      if (spare === undefined) throw noRoom(name, entries, maxBytes)
      await store.remove(spare)
    }
    promised += mostBytes
  }

  async function sumOf(entries: readonly Entry[], { mostBytes, signal }: Pick<Need, 'mostBytes' | 'signal'>): Promise<number> {
    let sum = 0
    for (const { name } of entries) {
      const known = sizes.get(name) ?? (await sizeOfFolder(join(store.dir, name), 'bytes', { signal, timeoutMs: SIZE_TIMEOUT_MS }))
      if (known !== undefined) sizes.set(name, known)
      sum += known ?? mostBytes
    }
    return sum
  }

  return async (need, act) => {
    await oneAtATime.run(() => makeRoom(need))
    try {
      return await act()
    } finally {
      promised -= need.mostBytes
    }
  }
}

function namedIn({ store, foldersInUse }: Bounded): ReadonlySet<string> | undefined {
  const folders = foldersInUse()
  return folders && new Set([...folders].map((folder) => relative(store.dir, folder)))
}

const MIB = 1024 * 1024

function noRoom(name: string, entries: readonly Entry[], maxBytes: number): AppError {
  const there = entries.map((entry) => titleOf(entry.name)).sort()
  const instead = there.length === 0 ? '' : `ask for a version that is there (${there.join(', ')}), `
  const problem = `There is no room for ${titleOf(name)} on this server, which keeps ${maxBytes / MIB} MiB of toolchains at most`
  const advice = `${instead}deploy again in some minutes, or have the operator of this server raise CP_TOOLCHAINS_MAX_MB`
  return new AppError('unavailable', `${problem}, and services or running builds need those that are there. To go on, ${advice}.`)
}
