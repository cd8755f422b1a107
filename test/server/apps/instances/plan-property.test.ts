import { describe, expect, test } from 'vitest'
import { type Action, planService, type Situation } from '../../../../server/apps/instances/plan.ts'
import type { StoredInstance } from '../../../../server/apps/workloads/instance-store.ts'
import { type InstanceSet, type ServiceSet, setIdOf } from '../../../../server/apps/workloads/service-sets.ts'
import { candidate, exits, guard, instance, NOW, setsOf, situation } from './situations.ts'

const ROUNDS = 60
const SITUATIONS = 3000

/** Numbers that look random and are the same in every run (mulberry32). */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

function randomSituation(seed: number): Situation {
  const below = randomNumbers(seed)
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T
  const instances = Array.from({ length: below(6) }, (_, index) =>
    instance(`i${index}`, pick(['pending', 'starting', 'ready', 'serving', 'draining'] as const), {
      deployId: pick(['old', 'new', 'prev', 'gone']),
      generation: below(3),
      exits: exits(below(4)),
      startAt: NOW + pick([-1, 0, 5000]),
      createdAt: NOW - pick([0, 1, 20_000]),
    }),
  )
  const unbegun = { deployId: pick(['old', 'new']), generation: 3, replicas: below(3), isFrozen: false, isDropped: false }
  const sets = setsOf(instances).map((set) => (set.isDropped ? set : { ...set, replicas: set.replicas + pick([0, 0, 1]) }))
  return situation({
    instances,
    sets: below(3) === 0 ? [...sets, unbegun] : sets,
    hasJobs: below(6) === 0,
    guard: pick([
      undefined,
      guard({
        previous: { deployId: 'prev', generation: below(2) },
        until: NOW + pick([-20_000, 0, 3000]),
        isEnabled: below(5) > 0,
        verdict: pick([undefined, 'Bad.']),
      }),
    ]),
    candidate: pick([undefined, candidate({ updateStartedAt: NOW - pick([0, 20_000]), isCancelRequested: below(5) === 0 })]),
    service: {
      wantedInstances: below(4),
      generation: below(3),
      liveDeployId: pick([null, 'old']),
      liveGeneration: below(2),
      isSuspended: below(6) === 0,
      isDeleted: below(6) === 0,
      replaces: pick(['rolling', 'rolling', 'stop_first'] as const),
      isHalted: below(10) === 0,
    },
  })
}

type Model = Situation & { isRemoved?: boolean }

interface Fate {
  /** Whether instances of the candidate die whenever they are started. */
  dies: boolean
}

const BY_USE: StoredInstance['phase'][] = ['serving', 'ready', 'starting', 'pending']

/** Writes a set as the port does: those of its replicas that are too many are on their way out at once. */
function write(given: Model, name: InstanceSet, change: Partial<ServiceSet>): Model {
  const id = setIdOf(name)
  const known = given.sets.find((set) => setIdOf(set) === id) ?? { ...name, replicas: 0, isFrozen: false, isDropped: false }
  const set = { ...known, ...change }
  const wanted = set.isDropped ? 0 : set.replicas
  const active = given.instances.filter((one) => setIdOf(one) === id && one.phase !== 'draining')
  const byUse = active.toSorted((a, b) => BY_USE.indexOf(a.phase) - BY_USE.indexOf(b.phase))
  const surplus = new Set(byUse.slice(wanted).map((one) => one.id))
  return {
    ...given,
    sets: [...given.sets.filter((one) => setIdOf(one) !== id), set],
    instances: given.instances.map((one): StoredInstance => (surplus.has(one.id) ? { ...one, phase: 'draining' } : one)),
  }
}

function carryOut(given: Model, action: Action): Model {
  const { service } = given
  const change = (id: string, changed: Partial<StoredInstance>) =>
    given.instances.map((one) => (one.id === id ? { ...one, ...changed } : one))
  switch (action.kind) {
    case 'apply':
      return write(given, action.set, { replicas: action.replicas, isDropped: false })
    case 'drop':
      return write(given, action.set, { isDropped: true, isFrozen: false })
    case 'replace':
      return { ...given, instances: change(action.instanceId, { phase: 'draining' }) }
    case 'serve':
      return { ...given, instances: change(action.instanceId, { phase: 'serving' }) }
    case 'switch': {
      const isOf = (one: StoredInstance) => one.deployId === action.to.deployId && one.generation === action.to.generation
      return {
        ...given,
        instances: given.instances.map((one) => (isOf(one) && one.phase === 'ready' ? { ...one, phase: 'serving' } : one)),
        service: { ...service, liveDeployId: action.to.deployId, liveGeneration: action.to.generation },
        guard: action.to.deployId === service.liveDeployId ? given.guard : undefined,
      }
    }
    case 'flip_back': {
      const { deployId, generation } = given.guard?.previous ?? { deployId: 'none', generation: 0 }
      return { ...given, guard: undefined, service: { ...service, liveDeployId: deployId, liveGeneration: generation, generation } }
    }
    case 'end_guard':
      return { ...given, guard: undefined }
    case 'conclude_candidate':
    case 'fail_candidate':
    case 'cancel_candidate':
      return { ...given, candidate: undefined }
    case 'abandon_restart': {
      const { liveDeployId: deployId, liveGeneration: generation } = service
      const others = given.sets.filter((set) => set.deployId !== deployId || set.generation !== generation)
      const dropped = others.reduce<Model>((model, set) => write(model, set, { isDropped: true, isFrozen: false }), given)
      return { ...dropped, service: { ...service, generation: service.liveGeneration } }
    }
    case 'remove_service':
      return { ...given, isRemoved: true }
    case 'fall_asleep':
      return { ...given, sleep: { ...given.sleep, asleep: action.how } }
    case 'rest':
      return action.sets.reduce<Model>(
        (model, set) => write(model, set, action.how === 'stop' ? { replicas: 0 } : { isFrozen: true }),
        given,
      )
    case 'wake':
      return { ...given, sleep: { ...given.sleep, asleep: undefined, hasWoken: true, dueAt: Number.POSITIVE_INFINITY } }
    case 'thaw':
      return write(given, action.set, { isFrozen: false })
  }
}

/** A keeper on a machine where what is started is healthy at the next look, unless it dies. */
function keep(given: Model, { dies }: Fate): StoredInstance[] {
  const isExclusive = given.service.replaces === 'stop_first'
  const byId = new Map(given.sets.map((set) => [setIdOf(set), set]))
  const kept = given.instances
    .filter(({ phase }) => phase !== 'draining')
    .map((one): StoredInstance => {
      const isFrozen = byId.get(setIdOf(one))?.isFrozen ?? false
      if (one.phase === 'starting') return { ...one, phase: 'ready' }
      if (one.phase === 'pending') return one
      return { ...one, frozenAt: isFrozen ? (one.frozenAt ?? given.now) : null }
    })
  const begun = kept.map((one, index): StoredInstance => {
    const isAlone = !isExclusive || kept.every(({ phase }, other) => phase === 'pending' && other >= index)
    const mayBegin = one.phase === 'pending' && one.startAt <= given.now && one.frozenAt === null && isAlone
    if (!mayBegin || byId.get(setIdOf(one))?.isFrozen) return one
    return dies && one.deployId === 'new' ? { ...one, startAt: given.now, exits: [...one.exits, ...exits(1)] } : { ...one, phase: 'ready' }
  })
  const added = given.sets.flatMap((set) => {
    if (set.isDropped || set.isFrozen) return []
    const lacking = set.replicas - begun.filter((one) => setIdOf(one) === setIdOf(set)).length
    const { deployId, generation } = set
    return Array.from({ length: Math.max(0, lacking) }, () =>
      instance(crypto.randomUUID(), 'pending', { deployId, generation, startAt: given.now, createdAt: given.now }),
    )
  })
  return [...begun, ...(isExclusive ? added.slice(0, begun.length === 0 && given.instances.length === 0 ? 1 : 0) : added)]
}

/** Lets time pass: the keeper does its work, what drains is gone, and so are jobs. */
function pass(given: Model, fate: Fate): Model {
  const instances = keep(given, fate)
  const sets = given.sets.filter((set) => !set.isDropped || instances.some((one) => setIdOf(one) === setIdOf(set)))
  const now = given.now + 1000
  return { ...given, instances, sets, now, hasJobs: false, guard: given.guard && { ...given.guard, countedUntil: now } }
}

function settle(first: Situation, fate: Fate): { end: Model; actions: { before: Model; action: Action }[] } {
  let model: Model = first
  const actions: { before: Model; action: Action }[] = []
  for (let round = 0; round < ROUNDS && !model.isRemoved; round++) {
    for (const action of planService(model)) {
      actions.push({ before: model, action })
      model = carryOut(model, action)
    }
    model = pass(model, fate)
  }
  return { end: model, actions }
}

const isSet = (one: InstanceSet, other: InstanceSet) => setIdOf(one) === setIdOf(other)

const liveOf = ({ service }: Situation): InstanceSet => ({ deployId: service.liveDeployId ?? '', generation: service.liveGeneration })

/** The service may be asleep, falling asleep, or only half awake. */
function sleepySituation(seed: number): Situation {
  const below = randomNumbers(seed + SITUATIONS)
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T
  const given = randomSituation(seed)
  const instances = given.instances.map((one) => ({ ...one, frozenAt: one.phase === 'draining' ? null : pick([null, NOW]) }))
  return {
    ...given,
    instances,
    sets: setsOf(instances).map((set) => ({ ...set, isFrozen: set.isFrozen && below(4) > 0 })),
    sleep: {
      asleep: pick([undefined, 'freeze', 'stop'] as const),
      wanted: pick([undefined, 'freeze', 'freeze', 'stop'] as const),
      dueAt: NOW + pick([-1, 5000, Number.POSITIVE_INFINITY]),
      countedUntil: Number.POSITIVE_INFINITY,
      hasWoken: below(2) === 0,
    },
  }
}

const seeds = Array.from({ length: SITUATIONS }, (_, seed) => seed)

describe('in any situation', () => {
  test.each([{ dies: false }, { dies: true }])(
    'carrying out plans comes to rest with what was wanted (a candidate that dies: $dies)',
    (options) => {
      for (const seed of seeds) {
        const { end } = settle(randomSituation(seed), options)
        const { service, instances, isRemoved } = end
        if (service.isDeleted) expect(isRemoved && instances.length === 0, `seed ${seed}`).toBe(true)
        else {
          expect(planService(end), `seed ${seed}`).toEqual([])
          const isOff = service.isSuspended || service.isHalted || service.liveDeployId === null
          const wanted = isOff ? 0 : service.replaces === 'stop_first' ? Math.min(1, service.wantedInstances) : service.wantedInstances
          expect(instances.filter(({ phase }) => phase === 'serving').length, `seed ${seed}`).toBe(wanted)
          expect(instances.length, `seed ${seed}`).toBe(wanted)
        }
      }
    },
  )

  test('a candidate that fails or is canceled costs no serving instance, unless it is stop-first', () => {
    for (const seed of seeds) {
      for (const { before, action } of settle(randomSituation(seed), { dies: true }).actions) {
        const { isSuspended, isDeleted, isHalted, replaces } = before.service
        if (isSuspended || isDeleted || isHalted || replaces === 'stop_first') continue
        if ((action.kind !== 'drop' && action.kind !== 'apply') || !isSet(action.set, liveOf(before))) continue
        const left = action.kind === 'apply' ? action.replicas : 0
        expect(left, `seed ${seed}`).toBeGreaterThanOrEqual(before.service.wantedInstances)
      }
    }
  })

  test('what stands by is left alone while its release may have to come back', () => {
    for (const seed of seeds) {
      for (const { before, action } of settle(randomSituation(seed), { dies: false }).actions) {
        if (action.kind !== 'drop' && action.kind !== 'apply') continue
        if (before.guard === undefined || before.service.isHalted) continue
        expect(isSet(action.set, before.guard.previous) && !isSet(action.set, liveOf(before)), `seed ${seed}`).toBe(false)
      }
    }
  })

  test('the way back is taken only to a set of which an instance is healthy', () => {
    let flips = 0
    for (const seed of seeds) {
      for (const { before, action } of settle(randomSituation(seed), { dies: false }).actions) {
        if (action.kind !== 'flip_back') continue
        flips++
        const { deployId, generation } = before.guard?.previous ?? {}
        const healthy = before.instances.filter(
          (one) => one.deployId === deployId && one.generation === generation && (one.phase === 'ready' || one.phase === 'serving'),
        )
        expect(healthy.length, `seed ${seed}`).toBeGreaterThan(0)
      }
    }
    expect(flips).toBeGreaterThan(10)
  })

  test.each([{ dies: false }, { dies: true }])(
    'no set of a stop-first service grows while anything else of it is there (a candidate that dies: $dies)',
    (options) => {
      let grown = 0
      for (const seed of seeds) {
        const given = randomSituation(seed)
        const stopFirst = { ...given, service: { ...given.service, replaces: 'stop_first' as const } }
        for (const { before, action } of settle(stopFirst, options).actions) {
          if (action.kind !== 'apply') continue
          expect(action.replicas, `seed ${seed}`).toBeLessThanOrEqual(1)
          const known = before.sets.find((set) => isSet(set, action.set) && !set.isDropped)
          if (action.replicas <= (known?.replicas ?? 0)) continue
          grown++
          const others = before.instances.filter((one) => one.phase === 'draining' || !isSet(one, action.set))
          const otherSets = before.sets.filter((set) => !set.isDropped && !isSet(set, action.set))
          expect([others, otherSets], `seed ${seed}`).toEqual([[], []])
        }
      }
      expect(grown).toBeGreaterThan(500)
    },
  )

  test('nothing is applied or put into the routes while a service is halted', () => {
    for (const seed of seeds) {
      const given = randomSituation(seed)
      const halted = { ...given, service: { ...given.service, isHalted: true } }
      for (const { action } of settle(halted, { dies: false }).actions) {
        expect(['apply', 'serve', 'switch'], `seed ${seed}`).not.toContain(action.kind)
      }
    }
  })

  test('a switch happens only when as many as wanted of its set are healthy', () => {
    for (const seed of seeds) {
      for (const { before, action } of settle(randomSituation(seed), { dies: false }).actions) {
        if (action.kind !== 'switch') continue
        const { deployId, generation } = action.to
        const ready = before.instances.filter((one) => one.deployId === deployId && one.generation === generation && one.phase === 'ready')
        const { replaces, wantedInstances } = before.service
        expect(ready.length, `seed ${seed}`).toBeGreaterThanOrEqual(
          replaces === 'stop_first' ? Math.min(1, wantedInstances) : wantedInstances,
        )
      }
    }
  })

  test('one that sleeps comes to rest with all of it frozen or gone, and one that is awake with nothing of it frozen', () => {
    let sleepers = 0
    for (const seed of seeds) {
      const { end } = settle(sleepySituation(seed), { dies: seed % 2 === 0 })
      if (end.isRemoved) continue
      expect(planService(end), `seed ${seed}`).toEqual([])
      if (end.sleep.asleep !== undefined) sleepers++
      const { asleep } = end.sleep
      const expected = end.instances.map(() => (asleep === undefined ? 'awake' : asleep === 'freeze' ? 'frozen' : 'gone'))
      expect(
        end.instances.map(({ frozenAt }) => (frozenAt === null ? 'awake' : 'frozen')),
        `seed ${seed}`,
      ).toEqual(expected)
    }
    expect(sleepers).toBeGreaterThan(100)
  })

  test('nothing falls asleep or stays so while a deploy, a restart or a watch is under way', () => {
    for (const seed of seeds) {
      for (const { before, action } of settle(sleepySituation(seed), { dies: false }).actions) {
        if (action.kind !== 'fall_asleep' && action.kind !== 'rest') continue
        const { candidate: underWay, guard: watched, service } = before
        expect([underWay, watched, service.isSuspended, service.isHalted], `seed ${seed}`).toEqual([undefined, undefined, false, false])
        expect(service.generation, `seed ${seed}`).toBe(service.liveGeneration)
      }
    }
  })

  test('what is draining is neither put into the routes nor replaced, and no set is written twice', () => {
    for (const seed of seeds) {
      for (const given of [randomSituation(seed), sleepySituation(seed)]) {
        const planned = planService(given)
        const touched = planned.flatMap((action) => (action.kind === 'serve' || action.kind === 'replace' ? [action.instanceId] : []))
        const written = planned.flatMap((action) => (action.kind === 'apply' || action.kind === 'drop' ? [setIdOf(action.set)] : []))
        const draining = given.instances.filter(({ phase }) => phase === 'draining').map(({ id }) => id)
        expect(
          touched.filter((id) => draining.includes(id)),
          `seed ${seed}`,
        ).toEqual([])
        expect([new Set(touched).size, new Set(written).size], `seed ${seed}`).toEqual([touched.length, written.length])
      }
    }
  })
})
