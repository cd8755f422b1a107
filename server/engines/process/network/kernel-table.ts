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
  /** Members are moved, and none is made one: `add` does that. */
  change(wanted: { members: Members; destinations: Destinations }): Promise<void>
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
  /** The kernel lacks something that we know: it refused even the whole table. */
  let isBehind = false
  const batches = createBatches(async (commands) => {
    try {
      if (!isBehind) return void (await nft(batchOf(commands)))
    } catch (error) {
      // Another hand has changed the table: what we know replaces it as a whole.
      onError(error)
      isBehind = true
    }
    await replaceAll()
    isBehind = false
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
    change(wanted) {
      const moving = [...wanted.members].filter(([address, networkId]) => (members.get(address) ?? networkId) !== networkId)
      const commands = [...movesBetween(table, members, moving), ...changesBetween(table, destinations, wanted.destinations)]
      for (const [address, networkId] of moving) members.set(address, networkId)
      destinations = new Map(wanted.destinations)
      // Whoever tries again has nothing new to say, and must not be told that all is well.
      return batches.add(isBehind ? [...commands, `table inet ${table} {}`] : commands)
    },
    async repair() {
      await batches.settled()
      if (!isBehind && (await isThere(table))) return false
      await replaceAll()
      isBehind = false
      return true
    },
    async drop() {
      await batches.settled()
      await nft(batchOf([`table inet ${table} {}`, `delete table inet ${table}`]))
    },
  }
}

/** Networks are made before their first members come, and go after their last ones have left. */
function movesBetween(table: string, before: Members, moving: readonly (readonly [string, string])[]): string[] {
  const [former, later] = [new Set(before.values()), new Set(new Map([...before, ...moving]).values())]
  return [
    ...[...later].filter((networkId) => !former.has(networkId)).flatMap((networkId) => addNetwork(table, networkId)),
    ...moving.flatMap(([address]) => removeMember(table, address, before.get(address) ?? '')),
    ...moving.flatMap(([address, networkId]) => addMember(table, address, networkId)),
    ...[...former].filter((networkId) => !later.has(networkId)).flatMap((networkId) => removeNetwork(table, networkId)),
  ]
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
