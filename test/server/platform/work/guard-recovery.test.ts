import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ControlPlane, startControlPlane } from '../../../support/control-plane.ts'
import { type Load, startLoad } from '../../../support/load.ts'
import { servicesOn } from '../../../support/plane-services.ts'
import type { TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

const WINDOW_SECONDS = 5

let plane: ControlPlane
const services = servicesOn(() => plane)
const { now } = services
beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(async () => {
  await services.removeAll()
  await plane.close()
})

const visit = ({ name }: { name: string }) => plane.ingress.visit(`${name}.localhost`)

/** Answers every second request with 500. */
const halfBad = {
  'server.js': `let count = 0; require('node:http').createServer((_, response) => {
    if (count++ % 2 === 0) response.statusCode = 500
    response.end('bad')
  }).listen(process.env.PORT, '127.0.0.1'); process.on('SIGTERM', () => process.exit(0))`,
}

/** A service that has been asked for a while. */
async function busy(name: string, windowSeconds: number): Promise<{ service: TestService; load: Load }> {
  const service = await services.make(name, { serviceDetails: { cutoverGuard: { enabled: true, windowSeconds } } })
  await service.goLive('hello-js')
  const load = startLoad({ port: Number(plane.ingress.address.split(':')[1]), host: `${name}.localhost` })
  await load.answered(100)
  return { service, load }
}

const failuresOf = (load: Load, from: number) => load.samples.slice(from).flatMap(({ failure }) => failure ?? [])

describe('a control plane that is killed while a release is watched', () => {
  test('again and again still has a bad one taken back, and then no request fails', async () => {
    const { service, load } = await busy('killed-often', 300)
    const bad = await service.goLive('hello-js', halfBad)
    let kills = 0
    for (let status = 'live'; status === 'live'; kills++) {
      await plane.kill()
      await plane.start()
      await Bun.sleep(300 * kills)
      status = (await now(service).deploy(bad.id)).status
      expect(kills).toBeLessThan(20)
    }
    expect(await now(service).deploy(bad.id)).toMatchObject({
      status: 'update_failed',
      reason: expect.stringContaining('of the new release failed'),
    })
    await until('the old one alone is left', async () => (await now(service).instances()).map(({ status }) => status).join() === 'running')
    const from = load.samples.length
    await load.answered(50)
    await load.stop()
    expect(failuresOf(load, from)).toEqual([])
    expect(failuresOf(load, 0).filter((failure) => !failure.startsWith('status 500'))).toEqual([])
    const types = (await now(service).events()).map(({ type }) => type)
    expect(types.filter((type) => type === 'cutover_reverted')).toHaveLength(1)
  })

  test('and is away through the whole window decides on what was counted meanwhile', async () => {
    const { service, load } = await busy('away', WINDOW_SECONDS)
    const bad = await service.upload('hello-js', halfBad)
    await service.reaches(bad, 'live')
    await plane.kill()
    await Bun.sleep(WINDOW_SECONDS * 1000 + 500)
    await plane.start()
    await until('the old one serves again', async () => (await now(service).deploy(bad)).status === 'update_failed')
    await until('requests reach it', async () => (await visit(service)).text === 'hello-js 1\n' && (await visit(service)).status === 200)
    await load.stop()
    const { guardedUntil, reason } = await now(service).deploy(bad)
    expect(guardedUntil).toBeUndefined()
    expect(reason).toContain(`in the ${WINDOW_SECONDS} s since the switch`)
  })

  test('and is away through the whole window lets a good one pass, and takes the old instances', async () => {
    const { service, load } = await busy('away-good', WINDOW_SECONDS)
    const good = await service.goLive('hello-js', { VERSION: '2' })
    await plane.kill()
    await Bun.sleep(WINDOW_SECONDS * 1000 + 500)
    await plane.start()
    await until('the old one is gone', async () => (await now(service).instances()).length === 1)
    await load.stop()
    expect(failuresOf(load, 0)).toEqual([])
    expect((await now(service).deploy(good.id)).status).toBe('live')
    expect((await now(service).events()).at(-1)?.type).toBe('cutover_passed')
  })
})
