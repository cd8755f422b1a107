import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { coresToShare, parseCores } from '../../../../server/engines/process/cgroups/cores.ts'
import { createProcessEngine } from '../../../../server/engines/process/engine.ts'
import type { ProcessEngine } from '../../../../server/engines/process/spec.ts'
import { type Activity, planCpuWeights, suspectsOf } from '../../../../server/engines/process/throttling/cpu-weights-plan.ts'
import { until } from '../../../support/until.ts'
import { makeWorld, type World } from '../support/world.ts'

describe('who yields', () => {
  const none = new Set<string>()
  const own = new Set(['srv-a'])
  const seen = (figures: Partial<Activity>) => ({
    parent: 'srv-a',
    periods: 10,
    throttledPeriods: 0,
    refusedForks: 0,
    usedShare: 0,
    ...figures,
  })

  test('is who was at its limit for half of its active time', () => {
    expect(planCpuWeights([seen({ throttledPeriods: 5 })], none)).toEqual([{ parent: 'srv-a', priority: 'background' }])
    expect(planCpuWeights([seen({ throttledPeriods: 4 })], none)).toEqual([])
    expect(planCpuWeights([seen({ periods: 2, throttledPeriods: 2 })], none)).toEqual([])
  })

  test('is who was refused many processes, whatever processor time it had', () => {
    expect(planCpuWeights([seen({ refusedForks: 10 })], none)).toEqual([{ parent: 'srv-a', priority: 'background' }])
    expect(planCpuWeights([seen({ refusedForks: 9 })], none)).toEqual([])
    expect(planCpuWeights([seen({ refusedForks: 10 })], own)).toEqual([])
  })

  test('is who has yielded before, until it is hardly at its limit any more, or idle', () => {
    const rises = [{ parent: 'srv-a', priority: 'live' }]
    expect(planCpuWeights([seen({ throttledPeriods: 1 })], own)).toEqual([])
    expect(planCpuWeights([seen({ periods: 20, throttledPeriods: 1 })], own)).toEqual(rises)
    expect(planCpuWeights([seen({ periods: 0 })], own)).toEqual(rises)
  })

  test('is who takes nearly all it may without coming to its limit, once it yields', () => {
    expect(planCpuWeights([seen({ usedShare: 0.8 })], own)).toEqual([])
    expect(planCpuWeights([seen({ usedShare: 0.8 })], none)).toEqual([])
  })

  test('is looked for again soon among those that were at their limit for too short to tell', () => {
    expect(suspectsOf([seen({ throttledPeriods: 1 }), { ...seen({}), parent: 'srv-b' }], none)).toEqual(own)
    expect(suspectsOf([seen({ refusedForks: 1 })], none)).toEqual(own)
    expect(suspectsOf([seen({ throttledPeriods: 1 })], own)).toEqual(none)
    expect(suspectsOf([seen({ throttledPeriods: 9 })], none)).toEqual(none)
  })
})

describe('on this machine', () => {
  const label = `cpd-test-yielding-${process.pid}`
  const isV1 = existsSync('/sys/fs/cgroup/cpu')
  const weightOf = (parent: string) =>
    readFileSync(
      isV1 ? join('/sys/fs/cgroup/cpu', label, parent, 'cpu.shares') : join('/sys/fs/cgroup', label, parent, 'cpu.weight'),
      'utf8',
    ).trim()
  /** Undefined where groups cannot be confined: on a single core, or without the controller. */
  const coresOf = (group: string) => {
    const path = isV1
      ? join('/sys/fs/cgroup/cpuset', label, group, 'cpuset.effective_cpus')
      : join('/sys/fs/cgroup', label, group, 'cpuset.cpus.effective')
    const canBeConfined = availableParallelism() > 1 && existsSync(path)
    return canBeConfined ? parseCores(readFileSync(path, 'utf8')).length : undefined
  }
  const [live, lowered] = isV1 ? ['1024', '102'] : ['100', '10']
  let world: World
  let engine: ProcessEngine

  beforeEach(async () => {
    world = makeWorld()
    engine = await createProcessEngine({ stateDir: world.stateDir, label, network: { subnet: 'off' } })
  })
  afterEach(async () => {
    for (const { ownerId } of await engine.list()) await engine.removeOwner(ownerId)
    await engine.close()
    world.dispose()
  })

  test('an app that computes without end yields, also to the next engine, and one that does little does not', async () => {
    const limits = { cpu: 0.3, memoryBytes: 64 * 1024 * 1024, pids: 32 }
    const hog = world.instance('while :; do :; done', { sandbox: world.service('srv-hog'), limits })
    const quiet = world.instance('while :; do sleep 0.05; done', { sandbox: world.service('srv-quiet'), limits })
    await Promise.all([engine.start(hog), engine.start(quiet)])
    expect(weightOf('srv-hog')).toBe(live)
    await until('the hog yields', () => weightOf('srv-hog') === lowered)
    expect(weightOf('srv-quiet')).toBe(live)
    const every = coresOf(`srv-quiet/${quiet.instanceId}`)
    const hogsCores = () => coresOf(`srv-hog/${hog.instanceId}`)
    await until('the hog has some cores only', () => hogsCores() === (every && coresToShare(Array.from({ length: every })).length))

    await engine.close()
    engine = await createProcessEngine({ stateDir: world.stateDir, label, network: { subnet: 'off' } })
    await until('it is found again', () => weightOf('srv-hog') === lowered)
    await engine.freeze(hog.instanceId)
    await until('it has its weight back when it does nothing', () => weightOf('srv-hog') === live)
    await until('it has its cores back', () => hogsCores() === every)
  })

  test('what forks without end yields before it comes to its limit of processor time', async () => {
    const limits = { cpu: availableParallelism() + 1, memoryBytes: 64 * 1024 * 1024, pids: 24 }
    // A shell ends when it is refused a process; whoever waits for it begins anew.
    const forks =
      'for n in $(seq 16); do sleep 1000 & done; while :; do (sleep 0 & sleep 0 & sleep 0 & sleep 0 & sleep 0 & sleep 0 & sleep 0 & sleep 0 & wait); done 2>/dev/null'
    await engine.start(world.instance(`exec 2>/dev/null; ${forks}`, { sandbox: world.service('srv-forks'), limits }))
    await until('it yields', () => weightOf('srv-forks') === lowered)
  })

  test('what can wait is weighed apart from the apps of its service', async () => {
    const task = world.task('sleep 60', { sandbox: world.service('srv-one') })
    await engine.start(task)
    await until('it runs', () =>
      existsSync(isV1 ? `/sys/fs/cgroup/cpu/${label}/srv-one-background` : `/sys/fs/cgroup/${label}/srv-one-background`),
    )
    await until('it is weighed', () => weightOf('srv-one-background') === lowered)
    await engine.stop(task.instanceId, { graceMs: 0 })
  })
})
