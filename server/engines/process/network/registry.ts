import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { parseSubnet } from './addresses.ts'
import { unclaimSubnet } from './subnet.ts'
import { batchOf, runTool } from './tools.ts'

const Registered = Type.Object({ directory: Type.String(), subnet: Type.String() })

const FOLDER = '/run/cpd/networks'

export function register(table: string, entry: { directory: string; subnet: string }, folder = FOLDER): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, table), JSON.stringify(entry), { mode: 0o600 })
}

export const registeredSubnet = (table: string, folder = FOLDER): string | undefined => readEntry(join(folder, table))?.subnet

export const unregister = (table: string, folder = FOLDER): void => rmSync(join(folder, table), { force: true })

/** Takes out of the kernel what is left of installations whose data is gone: nobody else ever would. */
export async function sweepOrphans(folder = FOLDER): Promise<void> {
  for (const table of existsSync(folder) ? readdirSync(folder) : []) {
    const entry = readEntry(join(folder, table))
    if (entry === undefined || existsSync(entry.directory) || !/^cpd_[0-9a-f]{8}$/.test(table)) continue
    await runTool(['nft', '-f', '-'], batchOf([`table inet ${table} {}`, `delete table inet ${table}`]))
    await unclaimSubnet(parseSubnet(entry.subnet))
    unregister(table, folder)
  }
}

function readEntry(path: string): { directory: string; subnet: string } | undefined {
  try {
    const entry: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return Value.Check(Registered, entry) ? entry : undefined
  } catch {
    // Another installation may have taken it away, or is just writing it.
    return undefined
  }
}
