import { join } from 'node:path'
import type { Fetching } from './registry/download.ts'
import type { StoreReader } from './store/store.ts'
import type { Tool } from './tool.ts'

/** What a toolchain is had by: the store, and whatever fetches into it need. */
export interface Providing extends Fetching {
  store: StoreReader
  log(line: string): void
}

export type StoredTool = Tool & { version: string }

/** A toolchain of the store, which has its programs in `bin`. */
export const storedTool = (folder: string, version: string): StoredTool => ({
  directory: join(folder, 'bin'),
  version,
  env: {},
  readOnlyBinds: [folder],
})

/** The versions of a tool that the store holds. */
export async function versionsHeld(store: StoreReader, tool: string): Promise<string[]> {
  const names = (await store.entries()).map(({ name }) => name)
  return names.flatMap((name) => (name.startsWith(`${tool}-`) ? name.slice(tool.length + 1) : []))
}
