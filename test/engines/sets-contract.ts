import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DesiredSet, Replica, Sets } from '../../server/engines/port/sets.ts'
import { type Act, until } from './world.ts'

/** A place where sets are kept, whoever keeps them. */
export interface SetsWorld {
  /** The second time it stands for a restarted control plane, which the one before does not see. */
  open(): Promise<Sets>
  /** Ids of what runs, known to the sets or not. */
  running(): Promise<string[]>
  /** Ends a replica behind the back of its set. */
  crash(id: string): Promise<void>
  dispose(): Promise<void>
}

const owner = { ownerKind: 'contract', ownerId: 'srv-one' }

const desired = (id: string, replicas: number, { purpose = 'lasting', acts = ['serve'] as Act[] } = {}): DesiredSet => ({
  ...{ ...owner, id, purpose, spec: { acts }, replicas },
})

/** What everybody promises who keeps sets. */
export function describeSets(name: string, makeWorld: () => SetsWorld): void {
  describe(name, () => setsContract(makeWorld))
}

function setsContract(makeWorld: () => SetsWorld): void {
  let world: SetsWorld
  let sets: Sets
  beforeEach(async () => {
    world = makeWorld()
    sets = await world.open()
  })
  afterEach(() => world.dispose())

  const ids = (replicas: readonly Replica[]) => replicas.map(({ id }) => id).sort()
  const runs = (id: string, count: number) =>
    until(`${count} of ${id} run, and nothing else of it is there`, () => {
      const all = sets.instances(id)
      return all.length === count && all.every(({ phase }) => phase === 'running')
    })
  const asReported = async (...setIds: string[]) =>
    expect((await world.running()).sort()).toEqual(ids(setIds.flatMap((id) => sets.instances(id))))

  describe('sets', () => {
    test('a set that is applied runs at its size, and the same twice is nothing', async () => {
      sets.apply(desired('dep-1.0', 2))
      expect(sets.instances('dep-1.0')).toHaveLength(2)
      await runs('dep-1.0', 2)
      const before = ids(sets.instances('dep-1.0'))
      sets.apply(desired('dep-1.0', 2))
      await runs('dep-1.0', 2)
      expect(ids(sets.instances('dep-1.0'))).toEqual(before)
      await asReported('dep-1.0')
    })

    test('another size is a scaling, up and down, to nothing and back', async () => {
      sets.apply(desired('dep-1.0', 1))
      await runs('dep-1.0', 1)
      const [first] = ids(sets.instances('dep-1.0'))
      sets.apply(desired('dep-1.0', 3))
      await runs('dep-1.0', 3)
      sets.apply(desired('dep-1.0', 1))
      await runs('dep-1.0', 1)
      expect(ids(sets.instances('dep-1.0'))).toEqual([first])
      sets.apply(desired('dep-1.0', 0))
      await runs('dep-1.0', 0)
      expect([await world.running(), sets.sets(owner)]).toEqual([[], [expect.objectContaining({ id: 'dep-1.0', replicas: 0 })]])
      sets.apply(desired('dep-1.0', 1))
      await runs('dep-1.0', 1)
    })

    test('another program under the same id is refused', () => {
      sets.apply(desired('dep-1.0', 1))
      expect(() => sets.apply(desired('dep-1.0', 1, { acts: [{ exit: 1 }] }))).toThrow(expect.objectContaining({ code: 'conflict' }))
    })

    test('one set stands beside another, and goes without it', async () => {
      sets.apply(desired('dep-1.0', 1))
      sets.apply(desired('dep-2.0', 2))
      await Promise.all([runs('dep-1.0', 1), runs('dep-2.0', 2)])
      await asReported('dep-1.0', 'dep-2.0')
      sets.drop('dep-1.0')
      await until('the set is gone', () => sets.sets(owner).length === 1)
      await asReported('dep-2.0')
      expect(sets.instances('dep-1.0')).toEqual([])
    })

    test('dropping twice is nothing, and so is dropping what never was', async () => {
      sets.apply(desired('dep-1.0', 1))
      await runs('dep-1.0', 1)
      for (const id of ['dep-1.0', 'dep-1.0', 'dep-0.0']) sets.drop(id)
      await until('the set is gone', () => sets.sets(owner).length === 0)
      expect(await world.running()).toEqual([])
    })

    test('what dies is started again', async () => {
      sets.apply(desired('dep-1.0', 1))
      await runs('dep-1.0', 1)
      const [id = ''] = ids(sets.instances('dep-1.0'))
      await world.crash(id)
      await until('it was started again', () =>
        sets.instances('dep-1.0').some(({ restarts, phase }) => restarts === 1 && phase === 'running'),
      )
      expect(await world.running()).toEqual([id])
    })

    test('what is to run once is over with its end', async () => {
      sets.apply(desired('job-1', 1, { purpose: 'once', acts: [{ exit: 3 }] }))
      await until('the set is over', () => sets.sets(owner).length === 0)
      expect(await world.running()).toEqual([])
    })

    test('a replica gives way to another of its set', async () => {
      sets.apply(desired('dep-1.0', 2))
      await runs('dep-1.0', 2)
      const [first = '', second] = ids(sets.instances('dep-1.0'))
      sets.replace(first)
      await runs('dep-1.0', 2)
      expect(ids(sets.instances('dep-1.0'))).toContain(second)
      expect(ids(sets.instances('dep-1.0'))).not.toContain(first)
      await asReported('dep-1.0')
    })

    test('a frozen set says so of its replicas, begins no other, and goes on', async () => {
      sets.apply(desired('dep-1.0', 1))
      await runs('dep-1.0', 1)
      sets.freeze('dep-1.0', true)
      await until('it is frozen', () => sets.instances('dep-1.0').every(({ frozenAt }) => frozenAt !== null))
      sets.apply(desired('dep-1.0', 2))
      expect(sets.instances('dep-1.0')).toHaveLength(1)
      sets.freeze('dep-1.0', false)
      await runs('dep-1.0', 2)
      await until('both go on', () => sets.instances('dep-1.0').every(({ frozenAt }) => frozenAt === null))
    })

    test('changes are told by owner, whatever they are', async () => {
      let told = new Set<string>()
      const stop = sets.onChange(({ ownerId }) => void told.add(ownerId))
      sets.apply(desired('dep-1.0', 1))
      await until('it is told', () => told.has('srv-one'))
      await runs('dep-1.0', 1)
      stop()
      told = new Set()
      sets.drop('dep-1.0')
      await until('the set is gone', () => sets.sets(owner).length === 0)
      expect([...told]).toEqual([])
    })

    test('a control plane that comes after finds everything as it is, and goes on with what was wanted', async () => {
      sets.apply(desired('dep-1.0', 2))
      await runs('dep-1.0', 2)
      const before = await world.running()
      sets = await world.open()
      await until('it has asked about all', () => sets.isKnown(owner))
      await runs('dep-1.0', 2)
      expect((await world.running()).sort()).toEqual(before.sort())
      sets.apply(desired('dep-1.0', 3))
      await runs('dep-1.0', 3)
      sets.drop('dep-1.0')
      await until('the set is gone', () => sets.sets(owner).length === 0)
      expect(await world.running()).toEqual([])
    })
  })
}
