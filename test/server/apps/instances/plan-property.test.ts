import { describe, expect, test } from 'vitest'
import { type Action, planService, type Situation } from '../../../../server/apps/instances/plan.ts'
import type { StoredInstance } from '../../../../server/apps/workloads/instance-store.ts'
import { candidate, exits, guard, instance, NOW, situation } from './situations.ts'

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
  return situation({
    instances,
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

/** A machine on which every instance that is launched is healthy at once and every drain ends at once, unless it is a candidate's that `dies`. */
function carryOut(given: Model, action: Action, options: { dies: boolean }): Model {
  const { service } = given
  const change = (id: string, changed: Partial<StoredInstance>) =>
    given.instances.map((one) => (one.id === id ? { ...one, ...changed } : one))
  switch (action.kind) {
    case 'create': {
      const made = instance(`n${given.instances.length}-${crypto.randomUUID()}`, 'pending', {
        ...action.set,
        startAt: given.now,
        createdAt: given.now,
      })
      return { ...given, instances: [...given.instances, made] }
    }
    case 'launch': {
      const launched = given.instances.find(({ id }) => id === action.instanceId)
      const fails = options.dies && launched?.deployId === 'new'
      const died = { startAt: given.now, exits: [...(launched?.exits ?? []), ...exits(1)] }
      return { ...given, instances: change(action.instanceId, fails ? died : { phase: 'ready' }) }
    }
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
    case 'drain':
      return { ...given, instances: given.instances.filter(({ id }) => !action.instanceIds.includes(id)) }
    case 'conclude_candidate':
    case 'fail_candidate':
    case 'cancel_candidate':
      return { ...given, candidate: undefined }
    case 'abandon_restart':
      return { ...given, service: { ...service, generation: service.liveGeneration } }
    case 'remove_service':
      return { ...given, isRemoved: true }
    case 'fall_asleep':
      return { ...given, sleep: { ...given.sleep, asleep: action.how } }
    case 'rest':
      return {
        ...given,
        instances: given.instances
          .filter(({ id }) => action.how === 'freeze' || !action.instanceIds.includes(id))
          .map((one) => (action.instanceIds.includes(one.id) ? { ...one, frozenAt: given.now } : one)),
      }
    case 'wake':
      return { ...given, sleep: { ...given.sleep, asleep: undefined, hasWoken: true, dueAt: Number.POSITIVE_INFINITY } }
    case 'thaw':
      return { ...given, instances: given.instances.map((one) => (action.instanceIds.includes(one.id) ? { ...one, frozenAt: null } : one)) }
  }
}

/** Lets starts that take their time come to their end: they become healthy, and what drains is gone, and so are jobs. */
function pass(given: Model): Model {
  const instances = given.instances
    .filter(({ phase }) => phase !== 'draining')
    .map((one): StoredInstance => (one.phase === 'starting' ? { ...one, phase: 'ready' } : one))
  const now = given.now + 1000
  return { ...given, instances, now, hasJobs: false, guard: given.guard && { ...given.guard, countedUntil: now } }
}

function settle(first: Situation, options: { dies: boolean }): { end: Model; actions: { before: Model; action: Action }[] } {
  let model: Model = first
  const actions: { before: Model; action: Action }[] = []
  for (let round = 0; round < ROUNDS && !model.isRemoved; round++) {
    for (const action of planService(model)) {
      actions.push({ before: model, action })
      model = carryOut(model, action, options)
    }
    model = pass(model)
  }
  return { end: model, actions }
}

const isLive = ({ service }: Situation, one: StoredInstance) =>
  one.deployId === service.liveDeployId && one.generation === service.liveGeneration

/** The service may be asleep, falling asleep, or only half awake. */
function sleepySituation(seed: number): Situation {
  const below = randomNumbers(seed + SITUATIONS)
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T
  const given = randomSituation(seed)
  return {
    ...given,
    instances: given.instances.map((one) => ({ ...one, frozenAt: one.phase === 'draining' ? null : pick([null, NOW]) })),
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
        if (isSuspended || isDeleted || isHalted || replaces === 'stop_first' || action.kind !== 'drain') continue
        const serving = before.instances.filter((one) => one.phase === 'serving' && isLive(before, one))
        const lost = serving.filter(({ id }) => action.instanceIds.includes(id))
        const left = serving.length - lost.length
        if (lost.length > 0) expect(left, `seed ${seed}`).toBeGreaterThanOrEqual(before.service.wantedInstances)
      }
    }
  })

  test('what stands by is not drained while its release may have to come back', () => {
    for (const seed of seeds) {
      for (const { before, action } of settle(randomSituation(seed), { dies: false }).actions) {
        if (action.kind !== 'drain' || before.guard === undefined || before.service.isHalted) continue
        const { deployId, generation } = before.guard.previous
        const standby = before.instances.filter((one) => one.deployId === deployId && one.generation === generation)
        expect(
          standby.filter(({ id }) => action.instanceIds.includes(id)),
          `seed ${seed}`,
        ).toEqual([])
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
    'nothing of a stop-first service is started while anything else of it runs or drains (a candidate that dies: $dies)',
    (options) => {
      let starts = 0
      for (const seed of seeds) {
        const given = randomSituation(seed)
        const stopFirst = { ...given, service: { ...given.service, replaces: 'stop_first' as const } }
        for (const { before, action } of settle(stopFirst, options).actions) {
          if (action.kind !== 'launch') continue
          starts++
          const others = before.instances.filter(({ id, phase }) => id !== action.instanceId && phase !== 'pending')
          expect(others, `seed ${seed}`).toEqual([])
        }
      }
      expect(starts).toBeGreaterThan(500)
    },
  )

  test('nothing is made, started or put into the routes while a service is halted', () => {
    for (const seed of seeds) {
      const given = randomSituation(seed)
      const halted = { ...given, service: { ...given.service, isHalted: true } }
      for (const { action } of settle(halted, { dies: false }).actions) {
        expect(['create', 'launch', 'serve', 'switch'], `seed ${seed}`).not.toContain(action.kind)
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

  test('what is draining is neither started, put into the routes nor drained again', () => {
    for (const seed of seeds) {
      const given = randomSituation(seed)
      const touched = planService(given).flatMap((action) => {
        if (action.kind === 'drain') return action.instanceIds
        return action.kind === 'launch' || action.kind === 'serve' ? [action.instanceId] : []
      })
      const draining = given.instances.filter(({ phase }) => phase === 'draining').map(({ id }) => id)
      expect(
        touched.filter((id) => draining.includes(id)),
        `seed ${seed}`,
      ).toEqual([])
      expect(new Set(touched).size, `seed ${seed}`).toBe(touched.length)
    }
  })
})
