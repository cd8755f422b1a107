import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Deploy } from '../../shared/deploy.ts'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deploysOf, serviceNamed } from '../support/compiled-steps.ts'
import { type Sample, startLoad } from '../support/load.ts'

const DEPLOYS = 5

let cpd: Compiled
let app: AppFolder

beforeAll(async () => {
  cpd = await startCompiled()
  app = copyApp('hello-js')
})

afterAll(async () => {
  app.remove()
  await cpd.stop()
})

/** From the last answer of the old release to the first of the new one. */
function gapSeenBy(samples: readonly Sample[], from: string, to: string): number {
  const last = samples.findLast(({ body }) => body === from)?.doneAt ?? Number.NaN
  const first = samples.find(({ body }) => body === to)?.doneAt ?? Number.NaN
  return first - last
}

test('a service with a disk is away for a measured moment at each deploy, and says so', async () => {
  await cpctl(cpd, 'services', 'create', 'hello-js', '--disk', 'data:/var/data:1', '--no-guard')
  const first = await cpctl(cpd, 'deploy', app.dir)
  expect(first).not.toContain('was away')
  const { id } = await serviceNamed(cpd, 'hello-js')
  const gaps: { told: number; seen: number }[] = []
  for (let version = 2; version <= DEPLOYS + 1; version++) {
    const [from, to] = [`hello-js ${version - 1}`, `hello-js ${version}`]
    const load = startLoad({ port: cpd.ingressPort, host: 'hello-js.localhost', ratePerSecond: 200 })
    await load.answered(20)
    app.setVersion(String(version))
    const { stdout, stderr, exitCode } = await cpd.cpctl(['deploy', app.dir])
    await load.answered(20)
    await load.stop()
    expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: 0 })
    const [deploy] = (await deploysOf(cpd, id)) as [Deploy, ...Deploy[]]
    expect(deploy.rollout).toMatchObject({ strategy: 'stop_first', gapMs: expect.any(Number) })
    expect(stdout).toContain(`Stop-first because of disk data: the service was away for ${deploy.rollout.gapMs} ms`)
    expect(stderr).toContain('Stop-first, as it has a disk')
    expect(stderr).toContain('The service was away for ')
    // What comes meanwhile is told to come again, and nobody hears of the old release once the new one has answered.
    expect(load.failures().filter((failure) => !failure.includes(': status 503:'))).toEqual([])
    const bodies = load.samples.flatMap(({ body }) => body ?? [])
    expect(bodies.lastIndexOf(from)).toBeLessThan(bodies.indexOf(to))
    expect(load.failures().every((failure) => failure.includes('Try again in a moment'))).toBe(true)
    gaps.push({ told: deploy.rollout.gapMs ?? 0, seen: Math.round(gapSeenBy(load.samples, from, to)) })
  }
  console.info(`disk-gap: ${gaps.map(({ told, seen }) => `${told} ms told, ${seen} ms seen`).join('; ')}`)
  const rollback = await cpctl(cpd, 'rollback', '--service', 'hello-js', '--dry-run')
  expect(rollback).toContain('It is stop-first')
}, 180_000)
