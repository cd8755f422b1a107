/**
 * The machine's one table of connections (nf_conntrack): when it is full nobody connects any more, ssh included. Each instance has a share
 * of it that the rules count, and the table is made large enough for a machine full of instances.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { totalmem } from 'node:os'

export const CONNECTIONS_PER_INSTANCE = 8192

const MAX_PATH = '/proc/sys/net/netfilter/nf_conntrack_max'
/** struct nf_conn with its extensions. */
const ENTRY_BYTES = 320
const SHARE_OF_MEMORY = 1 / 16
const MOST_ENTRIES = 1_048_576
const FEWEST_ENTRIES = 16 * CONNECTIONS_PER_INSTANCE

/** How many entries the table is to have on a machine of that much memory, of which it takes a sixteenth when it is full. */
export const entriesFor = (memoryBytes: number): number => Math.min(MOST_ENTRIES, Math.floor((memoryBytes * SHARE_OF_MEMORY) / ENTRY_BYTES))

/** Never makes it smaller. Where we may not, as in a container, the size stays: `tableAdvice` tells of one that is too small. */
export function enlargeTable(): void {
  const wanted = entriesFor(totalmem())
  const current = readEntries()
  if (current === undefined || current >= wanted) return
  try {
    writeFileSync(MAX_PATH, String(wanted))
  } catch {}
}

export function tableAdvice(entries: number | undefined = readEntries()): string | undefined {
  if (entries === undefined || entries >= FEWEST_ENTRIES) return undefined
  return `the table has room for ${entries} connections only; set net.netfilter.nf_conntrack_max to ${FEWEST_ENTRIES} or more`
}

function readEntries(): number | undefined {
  try {
    return Number(readFileSync(MAX_PATH, 'utf8'))
  } catch {
    return undefined
  }
}
