import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Engine } from '../../../server/engines/port.ts'
import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import { planYielding } from '../../../server/engines/process/yielding.ts'
import { until } from '../../support/until.ts'
import { makeWorld, type World } from '../world.ts'

describe('who yields', () => {
  const none = new Set<string>()

  test('is who was at its limit for half of its active time', () => {
    const at = (throttledPeriods: number) => planYielding([{ parent: 'srv-a', periods: 10, throttledPeriods }], none)
    expect(at(5)).toEqual([{ parent: 'srv-a', priority: 'background' }])
    expect(at(4)).toEqual([])
    expect(planYielding([{ parent: 'srv-a', periods: 2, throttledPeriods: 2 }], none)).toEqual([])
  })

  test('is who has yielded before, until it is hardly at its limit any more, or idle', () => {
    const at = (periods: number, throttledPeriods: number) =>
      planYielding([{ parent: 'srv-a', periods, throttledPeriods }], new Set(['srv-a']))
    expect(at(10, 1)).toEqual([])
    expect(at(20, 1)).toEqual([{ parent: 'srv-a', priority: 'live' }])
    expect(at(0, 0)).toEqual([{ parent: 'srv-a', priority: 'live' }])
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
  const [live, yielding] = isV1 ? ['1024', '102'] : ['100', '10']
  let world: World
  let engine: Engine

  beforeEach(async () => {
    world = makeWorld()
    engine = await createProcessEngine({ stateDir: world.stateDir, label, network: { subnet: 'off' } })
  })
  afterEach(async () => {
    for (const { serviceId } of await engine.list()) await engine.removeService(serviceId)
    await engine.close()
    world.dispose()
  })

  test('an app that computes without end yields, also to the next engine, and one that does little does not', async () => {
    const limits = { cpu: 0.3, memoryBytes: 64 * 1024 * 1024, pids: 32 }
    const hog = world.instance('while :; do :; done', { sandbox: world.service('srv-hog'), limits })
    const quiet = world.instance('while :; do sleep 0.05; done', { sandbox: world.service('srv-quiet'), limits })
    await Promise.all([engine.start(hog), engine.start(quiet)])
    expect(weightOf('srv-hog')).toBe(live)
    await until('the hog yields', () => weightOf('srv-hog') === yielding)
    expect(weightOf('srv-quiet')).toBe(live)

    await engine.close()
    engine = await createProcessEngine({ stateDir: world.stateDir, label, network: { subnet: 'off' } })
    await until('it is found again', () => weightOf('srv-hog') === yielding)
    await engine.freeze(hog.instanceId)
    await until('it has its weight back when it does nothing', () => weightOf('srv-hog') === live)
  })

  test('what can wait is weighed apart from the apps of its service', async () => {
    const stop = new AbortController()
    const task = world.task('sleep 60', { sandbox: world.service('srv-one') })
    const run = engine.runTask(task, stop.signal).catch(() => undefined)
    await until('it runs', () =>
      existsSync(isV1 ? `/sys/fs/cgroup/cpu/${label}/srv-one-background` : `/sys/fs/cgroup/${label}/srv-one-background`),
    )
    await until('it is weighed', () => weightOf('srv-one-background') === yielding)
    stop.abort(new Error('enough'))
    await run
  })
})
