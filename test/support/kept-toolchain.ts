import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { runProcess } from '../../server/platform/process/spawn.ts'

/** Outside of the checkout, as the programs of databases are. */
const keptDir = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'cpd-tests', 'toolchains')

/** Puts a toolchain that an earlier run has fetched into the store of a server. */
export async function placeKept(store: string, entry: string): Promise<void> {
  if (existsSync(join(keptDir, entry))) await duplicate(join(keptDir, entry), join(store, entry))
}

/** Keeps what a server has fetched for later runs. Nobody writes to it, so that links do. */
export async function keep(store: string, entry: string): Promise<void> {
  const [kept, fresh] = [join(keptDir, entry), join(keptDir, `${entry}-${crypto.randomUUID()}`)]
  if (existsSync(kept) || !existsSync(join(store, entry))) return
  await mkdir(keptDir, { recursive: true })
  await duplicate(join(store, entry), fresh)
  // Another worker may have been faster.
  await rename(fresh, kept).catch(() => rm(fresh, { recursive: true }))
}

async function duplicate(from: string, to: string): Promise<void> {
  for (const flags of ['-al', '-a']) {
    if ((await runProcess(['cp', flags, from, to])).exitCode === 0) return
    await rm(to, { recursive: true, force: true })
  }
  throw new Error(`${from} could not be copied to ${to}`)
}
