import { createBatches } from './batches.ts'
import {
  addMember,
  addNetwork,
  type Destinations,
  type Members,
  type Rules,
  removeDestination,
  removeMember,
  removeNetwork,
  renderTable,
  setDestination,
} from './ruleset.ts'
import { batchOf, runTool } from './tools.ts'

export interface KernelTable {
  add(address: string, networkId: string): Promise<void>
  remove(address: string): Promise<void>
  setDestinations(destinations: Destinations): Promise<void>
  readonly members: Members
  repair(): Promise<boolean>
  drop(): Promise<void>
}

export interface KernelTableOptions {
  rules: Rules
  members: Map<string, string>
  destinations: Destinations
  onError(error: unknown): void
}

/** @throws AppError `unavailable` when the kernel does not take the table. */
export async function openKernelTable({ rules, members, destinations: first, onError }: KernelTableOptions): Promise<KernelTable> {
  const { table } = rules
  let destinations = new Map(first)
  const replaceAll = () => nft(renderTable(rules, members, destinations))
  const batches = createBatches(async (commands) => {
    try {
      await nft(batchOf(commands))
    } catch (error) {
      // Another hand has changed the table: what we know replaces it as a whole.
      onError(error)
      await replaceAll()
    }
  })
  const isUsed = (networkId: string) => [...members.values()].includes(networkId)

  await replaceAll()
  return {
    members,
    add(address, networkId) {
      const isNew = !isUsed(networkId)
      members.set(address, networkId)
      return batches.add([...(isNew ? addNetwork(table, networkId) : []), ...addMember(table, address, networkId)])
    },
    remove(address) {
      const networkId = members.get(address)
      if (networkId === undefined) return Promise.resolve()
      members.delete(address)
      return batches.add([...removeMember(table, address, networkId), ...(isUsed(networkId) ? [] : removeNetwork(table, networkId))])
    },
    setDestinations(wanted) {
      const commands = changesBetween(table, destinations, wanted)
      destinations = new Map(wanted)
      return batches.add(commands)
    },
    async repair() {
      await batches.settled()
      if (await isThere(table)) return false
      await replaceAll()
      return true
    },
    async drop() {
      await batches.settled()
      await nft(batchOf([`table inet ${table} {}`, `delete table inet ${table}`]))
    },
  }
}

function changesBetween(table: string, before: Destinations, wanted: Destinations): string[] {
  const gone = [...before.keys()].filter((virtual) => !wanted.has(virtual))
  const changed = [...wanted].filter(([virtual, targets]) => before.get(virtual)?.join() !== targets.join())
  return [
    ...gone.flatMap((virtual) => removeDestination(table, virtual)),
    ...changed.flatMap(([virtual, targets]) => setDestination(table, virtual, targets)),
  ]
}

const nft = (commands: string): Promise<string> => runTool(['nft', '-f', '-'], commands)

async function isThere(table: string): Promise<boolean> {
  try {
    await runTool(['nft', 'list', 'chain', 'inet', table, 'forwarded'])
    return true
  } catch {
    return false
  }
}
