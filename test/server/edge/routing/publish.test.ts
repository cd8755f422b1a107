import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRoutePublisher, type RoutePublisher } from '../../../../server/edge/routing/publish.ts'
import type { RouteTable } from '../../../../server/ingress/tables/route-table.ts'
import { AppError } from '../../../../shared/error.ts'
import { createService } from '../../../support/apps.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { until } from '../../../support/until.ts'

interface Call {
  table: RouteTable
  base: RouteTable | undefined
  take(): void
  refuse(): void
}

let server: TestServer
let stopper: AbortController
let calls: Call[]
let publisher: RoutePublisher

beforeEach(async () => {
  server = await startTestServer()
  stopper = new AbortController()
  calls = []
  const publish = (table: RouteTable, base?: RouteTable) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    calls.push({ table, base, take: resolve, refuse: () => reject(new AppError('unavailable', 'away')) })
    return promise
  }
  publisher = createRoutePublisher({ ...server.context, ingress: { ...server.context.ingress, publish }, stopping: stopper.signal })
})
afterEach(async () => {
  stopper.abort()
  await server.close()
})

const hosts = (call: Call | undefined) => Object.keys(call?.table.hosts ?? {})

test('a publication holds the routes as they are when it begins, and says when they are taken', async () => {
  await createService(server, { name: 'one' })
  let isTaken = false
  const done = publisher.publish().then(() => {
    isTaken = true
  })
  await until('it is asked', () => calls.length === 1)
  expect(hosts(calls[0])).toEqual(['one.localhost'])
  expect(isTaken).toBe(false)
  calls[0]?.take()
  await done
})

test('what changes during a publication is published after it, once for all who asked', async () => {
  await createService(server, { name: 'one' })
  const first = publisher.publish()
  await createService(server, { name: 'two' })
  const others = [publisher.publish(), publisher.publish()]
  calls[0]?.take()
  await first
  await until('the second is asked', () => calls.length === 2)
  expect(hosts(calls[1])).toEqual(['one.localhost', 'two.localhost'])
  expect(calls[1]?.table.version).toBeGreaterThan(calls[0]?.table.version ?? 0)
  calls[1]?.take()
  await Promise.all(others)
  expect(calls).toHaveLength(2)
})

test('routes that have not changed are not published again', async () => {
  await createService(server, { name: 'one' })
  const first = publisher.publish()
  calls[0]?.take()
  await first
  await publisher.publish()
  expect(calls).toHaveLength(1)
})

test('the base of a publication is the table taken last', async () => {
  await createService(server, { name: 'one' })
  const first = publisher.publish()
  calls[0]?.take()
  await first
  await createService(server, { name: 'two' })
  const second = publisher.publish()
  calls[1]?.refuse()
  await until('it is asked again', () => calls.length === 3)
  calls[2]?.take()
  await second
  expect(calls.map(({ base }) => base)).toEqual([undefined, calls[0]?.table, calls[0]?.table])
})

test('an ingress that has just been started is given a table without a base', async () => {
  await createService(server, { name: 'one' })
  const first = publisher.publish()
  calls[0]?.take()
  await first
  const again = publisher.republish()
  await until('it is asked again', () => calls.length === 2)
  calls[1]?.take()
  await again
  expect(calls[1]?.base).toBeUndefined()
})

test('an ingress that is away is asked again, then with the routes of that time', async () => {
  await createService(server, { name: 'one' })
  const done = publisher.publish()
  await createService(server, { name: 'two' })
  calls[0]?.refuse()
  await until('it is asked again', () => calls.length === 2)
  expect(hosts(calls[1])).toEqual(['one.localhost', 'two.localhost'])
  calls[1]?.take()
  await done
})

test('a stop ends the wait for an ingress that is away', async () => {
  await createService(server, { name: 'one' })
  const done = publisher.publish()
  calls[0]?.refuse()
  await until('the refusal is logged', () => server.logged.some((line) => line.includes('routes not published')))
  stopper.abort(new Error('stopping'))
  await expect(done).rejects.toThrow()
})
