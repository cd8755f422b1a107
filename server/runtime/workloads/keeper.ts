/**
 * Keeps sets on engines that only start and stop. Each set has one run at a time, and runs keep no state: a keeper that dies anywhere is
 * followed by one that reads the rows and asks the engine. An engine that keeps sets by itself would satisfy the port `Sets` in this one's
 * place, forward what is written, and write down what it is told of replicas.
 */
import type { SetOwner, Sets } from '../../engines/port/sets.ts'
import { afterChange } from '../../platform/db/change.ts'
import { describeError } from '../../platform/server-log.ts'
import { createDriver } from '../../platform/work/driver.ts'
import { type Background, createBackground } from './background.ts'
import { forgetWorkload } from './ends.ts'
import type { KeeperOptions, Keeping, Owned } from './keeping.ts'
import type { WorkloadOwner } from './owner.ts'
import { keepSet } from './run.ts'
import { allSets, setById, setsOf } from './set-store.ts'
import { applySet, dropSet, freezeSet, replaceReplica } from './sets.ts'
import { allWorkloads, workloadById, workloadsOfSet } from './store.ts'

export interface Keeper extends Sets {
  poke(workloadId: string): void
  pokeAll(): void
  /** Before anything is kept: goes on to collect output, and forgets what has ended. */
  recover(): Promise<void>
  settled(): Promise<void>
}

/** The owners are asked for at the first need, since what they are made of may need the keeper. */
export function createKeeper(options: KeeperOptions, owners: () => readonly WorkloadOwner[]): Keeper {
  const { db, log, now, after, signal } = options
  const listeners = new Set<(owner: SetOwner) => void>()
  /** Sets of before whose replicas the engine has not been asked about. */
  const unasked = new Set<string>()
  const tell = ({ ownerKind, ownerId }: SetOwner) => {
    if (!signal.aborted) for (const listener of listeners) listener({ ownerKind, ownerId })
  }
  const changed = (setId: string) =>
    afterChange(db, () => {
      driver.poke(setId)
      const set = setById(db, setId)
      if (set !== undefined) tell(set)
    })
  const keeping: Keeping = { ...options, ownerOf: ownersBy(owners), tell, changed, frozen: new Set() }
  const background = createBackground((key, error) => {
    if (!signal.aborted) log.error('background work failed', { work: key, ...describeError(error) })
  })
  const driver = createDriver({
    run: (setId) => runSet(setId),
    onError: (setId, error) => log.error('set not kept', { setId, ...describeError(error) }),
    now,
    after,
    signal,
  })

  async function runSet(setId: string): Promise<number | undefined> {
    const set = setById(db, setId)
    const dueAt = await keepSet(keeping, background, setId)
    if (unasked.delete(setId) && set !== undefined) tell(set)
    return dueAt
  }

  return {
    apply: (set) => applySet(keeping, set),
    drop: (id) => dropSet(keeping, id),
    freeze: (id, isFrozen) => freezeSet(keeping, id, isFrozen),
    replace: (replicaId) => replaceReplica(keeping, replicaId),
    sets: (owner) => setsOf(db, owner),
    instances: (setId) => workloadsOfSet(db, setId),
    isKnown: (owner) => unasked.size === 0 || setsOf(db, owner).every(({ id }) => !unasked.has(id)),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    poke(workloadId) {
      const setId = workloadById(db, workloadId)?.setId
      if (setId != null) driver.poke(setId)
    },
    pokeAll() {
      for (const { id } of allSets(db)) driver.poke(id)
    },
    recover: () => recover(keeping, unasked),
    settled: () => settle([driver, background]),
  }
}

async function recover(keeping: Keeping, unasked: Set<string>): Promise<void> {
  // What no set keeps is somebody's who holds a terminal.
  const all = allWorkloads(keeping.db).filter(({ setId }) => setId !== null)
  for (const { setId, phase } of all) if (setId !== null && (phase === 'starting' || phase === 'running')) unasked.add(setId)
  for (const workload of all) if (workload.phase !== 'ended') keeping.ownerOf(workload).follow(workload)
  for (const workload of all) if (workload.phase === 'ended') await forgetWorkload(keeping, workload)
}

const settle = async (parts: readonly Pick<Background, 'settled'>[]): Promise<void> =>
  void (await Promise.all(parts.map((part) => part.settled())))

function ownersBy(owners: () => readonly WorkloadOwner[]): (owned: Owned) => WorkloadOwner {
  let byKey: Map<string, WorkloadOwner> | undefined
  return (owned) => {
    byKey ??= new Map(owners().map((owner) => [keyOf(owner), owner]))
    const owner = byKey.get(keyOf(owned))
    if (owner === undefined) throw new Error(`Nobody owns ${owned.id}: ${keyOf(owned)}`)
    return owner
  }
}

const keyOf = ({ ownerKind, purpose }: Pick<WorkloadOwner, 'ownerKind' | 'purpose'>): string => `${ownerKind}/${purpose}`
