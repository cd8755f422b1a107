/** The toolchains that a build is given: what the machine has, and what the store keeps or fetches. */
import { join, relative } from 'node:path'
import type { DetectInput } from '../detect/plan.ts'
import { goNeed, nodeNeed, pythonNeed } from '../detect/toolchain-needs.ts'
import type { BuilderSettings } from '../settings.ts'
import { provideGo } from '../toolchains/go/provide-go.ts'
import { provideNode } from '../toolchains/node/provide-node.ts'
import { providePython } from '../toolchains/python/provide-python.ts'
import type { Outages } from '../toolchains/registry/outages.ts'
import type { Keeping } from '../toolchains/store/room.ts'
import { titleOf, unusedEntries } from '../toolchains/store/rules.ts'
import type { StoreReader, ToolchainStore } from '../toolchains/store/store.ts'
import type { Toolchains } from '../toolchains/tool.ts'
import { findInterpreters, type Search } from '../toolchains/toolchains.ts'

export interface Equipping {
  store: StoreReader
  config: Pick<BuilderSettings, 'buildEnv'>
  search: Search
  fetchUid(): number
  outages: Outages
  log(line: string): void
  signal: AbortSignal
}

export async function equip(input: DetectInput, { store, config, search, fetchUid, outages, log, signal }: Equipping): Promise<Toolchains> {
  const providing = { store, env: config.buildEnv, log, signal }
  const [node, go, python] = [nodeNeed(input), goNeed(input), pythonNeed(input)]
  if (node !== undefined) return await provideNode(input.toolchains, node, providing)
  const interpreters = () => findInterpreters(search)
  if (python !== undefined) return await providePython(input.toolchains, python, { ...providing, interpreters, fetchUid, outages })
  return go === undefined ? input.toolchains : await provideGo(input.toolchains, go, providing)
}

/** A store that fetches nothing: it tells what a build would have it fetch, and where that would stand. */
export const withoutFetching = (store: StoreReader, tell: (title: string) => void): StoreReader => ({
  ...store,
  async ensure(name) {
    const found = await store.find(name)
    if (found === undefined) tell(titleOf(name))
    return found ?? join(store.dir, name)
  },
})

export async function tidy(store: ToolchainStore, { foldersInUse }: Pick<Keeping, 'foldersInUse'>): Promise<void> {
  const entries = await store.entries()
  if (unusedEntries(entries, { named: new Set(), now: Date.now() }).length === 0) return
  const folders = foldersInUse()
  if (folders === undefined) return
  const named = new Set([...folders].map((folder) => relative(store.dir, folder)))
  for (const entry of unusedEntries(entries, { named, now: Date.now() })) await store.remove(entry)
}
