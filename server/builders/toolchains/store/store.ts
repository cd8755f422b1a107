/**
 * Toolchains that builds had fetched, for all services. Only we write here, and what stands under the name of an entry is whole: it was made
 * under another name, written through to the disk, and renamed. What an interrupted fetch has left is removed at the next start.
 */
import { renameSync, statSync } from 'node:fs'
import { chmod, lstat, mkdir, readdir, rename, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import { runSystemTool } from '../../../platform/process/system-tools.ts'
import { unlessAborted } from '../../../platform/work/unless-aborted.ts'
import { createHolds, type Loan } from './holds.ts'
import { boundRoom, type Keeping, type WithinRoom } from './room.ts'
import { type Entry, INCOMING, isEntryName } from './rules.ts'

export interface ToolchainStore {
  readonly dir: string
  /** The folder of an entry, which counts as used now; undefined where it has to be made. */
  find(name: string): Promise<string | undefined>
  /** The folder of an entry, made where it is missing: once, however many want it. @throws what `make` throws, AppError `unavailable` without room, or the signal's reason. */
  ensure(name: string, wanted: NewEntry, signal: AbortSignal): Promise<string>
  entries(): Promise<Entry[]>
  /** Takes an entry away unless it was used since. */
  remove(entry: Entry): Promise<void>
  lend(): Loan
}

export type StoreReader = Pick<ToolchainStore, 'dir' | 'find' | 'ensure' | 'entries'>

export interface NewEntry {
  mostBytes: number
  make: MakeEntry
}

/** Fills a folder, which it makes; it is given up when nobody waits for it any more. */
export type MakeEntry = (into: string, signal: AbortSignal) => Promise<void>

interface Pending {
  made: Promise<string>
  waiting: number
  /** Ends it; whoever comes from now on begins anew. */
  giveUp(): void
}

const SYNC_TIMEOUT_MS = 300_000

/** Opens the store in a folder, which it makes, and removes what interrupted fetches have left there. */
export async function openToolchainStore(dir: string, keeping: Keeping): Promise<ToolchainStore> {
  await mkdir(dir, { recursive: true, mode: 0o755 })
  await chmod(dir, 0o755)
  for (const name of await readdir(dir)) if (name.startsWith(INCOMING)) await removeTree(join(dir, name))
  const pending = new Map<string, Pending>()
  const holds = createHolds()
  const store: ToolchainStore = {
    dir,
    find: (name) => findEntry(join(dir, name)),
    async ensure(name, wanted, signal) {
      signal.throwIfAborted()
      const found = await store.find(name)
      if (found !== undefined) return found
      return await wait(pending.get(name) ?? begin(pending, { ...wanted, dir, name, withinRoom }), signal)
    },
    entries: () => listEntries(dir),
    async remove({ name, usedAt }) {
      const aside = join(dir, `${INCOMING}${crypto.randomUUID()}`)
      // In one turn of the event loop: who looks for it afterwards finds nothing, and who has found it before has marked it.
      if ((statSync(join(dir, name), { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY) > usedAt) return
      renameSync(join(dir, name), aside)
      await removeTree(aside)
    },
    lend: () => holds.lend(store),
  }
  const withinRoom = boundRoom({ ...keeping, store, isHeld: holds.has })
  return store
}

async function findEntry(path: string): Promise<string | undefined> {
  const now = new Date()
  return utimes(path, now, now).then(
    () => path,
    () => undefined,
  )
}

interface Wanted extends NewEntry {
  dir: string
  name: string
  withinRoom: WithinRoom
}

function begin(pending: Map<string, Pending>, wanted: Wanted): Pending {
  const stop = new AbortController()
  const made = makeEntry(wanted, stop.signal)
  const forget = (): void => {
    if (pending.get(wanted.name) === begun) pending.delete(wanted.name)
  }
  const giveUp = (): void => {
    forget()
    stop.abort(new Error('nobody waits for it any more'))
  }
  const begun: Pending = { made, waiting: 0, giveUp }
  // Whoever waits is told; where nobody does any more, there is nobody to tell.
  made.catch(() => {}).finally(forget)
  pending.set(wanted.name, begun)
  return begun
}

async function wait(pending: Pending, signal: AbortSignal): Promise<string> {
  pending.waiting += 1
  try {
    return await unlessAborted(pending.made, signal)
  } finally {
    pending.waiting -= 1
    if (pending.waiting === 0) pending.giveUp()
  }
}

async function makeEntry(wanted: Wanted, signal: AbortSignal): Promise<string> {
  const path = join(wanted.dir, wanted.name)
  // Another one may have been finished between a look and the wish that followed it.
  if (await isThere(path)) return path
  return await wanted.withinRoom({ ...wanted, signal }, () => fill(path, wanted, signal))
}

async function fill(path: string, { dir, name, make }: Wanted, signal: AbortSignal): Promise<string> {
  const incoming = join(dir, `${INCOMING}${crypto.randomUUID()}`)
  try {
    await mkdir(incoming, { mode: 0o755 })
    const whole = join(incoming, name)
    await make(whole, signal)
    await runSystemTool(['sync', '--file-system', whole], { timeoutMs: SYNC_TIMEOUT_MS, signal })
    await rename(whole, path)
    return path
  } finally {
    await removeTree(incoming)
  }
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

async function listEntries(dir: string): Promise<Entry[]> {
  const names = (await readdir(dir)).filter(isEntryName)
  const entries = await Promise.all(names.map((name) => readEntry(dir, name)))
  return entries.filter((entry) => entry !== undefined)
}

async function readEntry(dir: string, name: string): Promise<Entry | undefined> {
  return await stat(join(dir, name)).then(
    ({ mtimeMs }) => ({ name, usedAt: mtimeMs }),
    () => undefined,
  )
}
