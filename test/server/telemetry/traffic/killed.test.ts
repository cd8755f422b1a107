import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pathsOf } from '../../../../server/platform/paths.ts'
import type { LogPage } from '../../../../shared/log.ts'
import { call } from '../../../support/client.ts'
import { type ControlPlane, startControlPlane } from '../../../support/control-plane.ts'
import { startTestIngress, type TestIngress } from '../../../support/ingress.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

const CONCURRENCY = 8
/** Each of the concurrent clients waits so long between two requests. */
const PAUSE_MS = 10
/** The ingress writes at least this often, on a machine that has more to do than that. */
const LAST_BATCH_MS = 1000

let plane: ControlPlane
let service: TestService
/** In place of one that was killed. */
let successor: TestIngress | undefined

beforeEach(async () => {
  plane = await startControlPlane()
  service = await makeService(plane, { name: 'site', type: 'static_site' })
  await service.goLive('static-plain')
})
afterEach(async () => {
  await call(`${plane.url}/v1/services/${service.id}`, { method: 'DELETE', token: plane.adminToken })
  await until('the service is gone', () => readdirSync(join(plane.dataDir, 'services')).length === 0)
  await plane.close()
  await successor?.close()
  successor = undefined
})

interface Load {
  /** When each request was answered, by its id. */
  answeredAt: Map<string, number>
  stop(): Promise<void>
}

/** Asks again and again, each time with another request id. */
function startLoad(address: string, name = 'load'): Load {
  const answeredAt = new Map<string, number>()
  let isStopped = false
  const client = async (number: number) => {
    for (let count = 0; !isStopped; count++) {
      const id = `${name}-${number}-${String(count).padStart(6, '0')}`
      const headers = { host: 'site.localhost', 'x-request-id': id }
      const isAnswered = await fetch(`http://${address}/`, { headers }).then(
        async (response) => (await response.text()) !== '' && response.status === 200,
        () => false,
      )
      if (isAnswered) answeredAt.set(id, performance.now())
      await sleep(PAUSE_MS)
    }
  }
  const clients = Array.from({ length: CONCURRENCY }, (_, number) => client(number))
  return {
    answeredAt,
    async stop() {
      isStopped = true
      await Promise.all(clients)
    },
  }
}

/** The ids of all requests that are logged, as often as they are. */
async function loggedIds(): Promise<string[]> {
  const ids: string[] = []
  let range = ''
  for (;;) {
    const query = `resource=${service.id}&type=request&direction=forward&limit=100${range}`
    const { body } = await call<LogPage>(`${plane.url}/v1/logs?${query}`, { token: plane.adminToken })
    ids.push(...body.logs.map(({ message }) => /requestID="([^"]+)"/.exec(message)?.[1] ?? message))
    if (!body.hasMore) return ids
    range = `&${new URLSearchParams({ startTime: body.nextStartTime, endTime: body.nextEndTime })}`
  }
}

test('kill -9 of the control plane, again and again under load, loses no line and repeats none', async () => {
  const load = startLoad(plane.ingress.address)
  for (let round = 0; round < 4; round++) {
    await sleep(300 + round * 170)
    await plane.kill()
    await sleep(200)
    await plane.start()
  }
  await load.stop()
  const answered = [...load.answeredAt.keys()].sort()
  await until('all are logged', async () => new Set(await loggedIds()).size >= answered.length)
  expect(answered.length).toBeGreaterThan(100)
  expect((await loggedIds()).sort()).toEqual(answered)
})

test('kill -9 of the ingress under load loses at most what it had not written yet, and the next one goes on', async () => {
  const load = startLoad(plane.ingress.address)
  await sleep(2500)
  const killedAt = performance.now()
  process.kill(plane.ingress.pid, 'SIGKILL')
  await load.stop()
  successor = await startTestIngress(pathsOf(plane.dataDir))
  const after = startLoad(successor.address, 'after')
  await sleep(500)
  await after.stop()
  const mustBeLogged = [...load.answeredAt].filter(([, at]) => at < killedAt - LAST_BATCH_MS).map(([id]) => id)
  expect(mustBeLogged.length).toBeGreaterThan(50)
  await until('those of the next one are logged', async () => {
    const ids = await loggedIds()
    return ids.length > mustBeLogged.length && [...after.answeredAt.keys()].every((id) => ids.includes(id))
  })
  const ids = await loggedIds()
  expect(mustBeLogged.filter((id) => !ids.includes(id))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
  const files = readdirSync(pathsOf(plane.dataDir).accessLogs)
  expect(files.filter((name) => name.includes(`-${plane.ingress.pid}-`))).toEqual([])
})

test('lines of the time without a control plane are taken in by the next one', async () => {
  await plane.kill()
  const load = startLoad(plane.ingress.address)
  await sleep(800)
  await load.stop()
  await sleep(LAST_BATCH_MS)
  await plane.start()
  const answered = [...load.answeredAt.keys()].sort()
  await until('all are logged', async () => (await loggedIds()).length >= answered.length)
  expect((await loggedIds()).sort()).toEqual(answered)
})
