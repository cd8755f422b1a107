import { beforeEach, describe, expect, test } from 'vitest'
import { createAlarm } from '../../../../server/apps/webhooks/dispatch/alarm.ts'
import { createService } from '../../../support/apps.ts'
import { type HookReceiver, isVerified, startReceiver } from '../../../support/hook-receiver.ts'
import { until } from '../../../support/until.ts'
import { startWebhookServer, type WebhookServer } from '../../../support/webhook-server.ts'

const HOUR_MS = 60 * 60 * 1000

let world: WebhookServer
let receiver: HookReceiver
let serviceId: string

beforeEach(async () => {
  receiver = startReceiver()
  world = await startWebhookServer()
  serviceId = await createService(world.server, { name: 'shop' })
  return async () => {
    await world.close()
    receiver.close()
  }
})

describe('an event', () => {
  test('is sent once, with a signature that the library takes, and its attempt is told', async () => {
    receiver.answer(() => new Response('thanks'))
    const { id, secret } = await world.create({ url: `${receiver.url}/hooks` })
    const eventId = world.happen('deploy_ended', { serviceId, details: { status: 'live' } })
    await world.settled()
    const [got, ...others] = receiver.received
    expect(others).toEqual([])
    expect(got).toMatchObject({ id: eventId, path: '/hooks', timestamp: Math.floor(world.clock.now() / 1000) })
    expect(got?.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'cpd-webhooks' })
    expect(JSON.parse(got?.body ?? '')).toEqual({
      type: 'deploy_ended',
      timestamp: new Date(world.clock.now()).toISOString(),
      data: { id: eventId, serviceId, serviceName: 'shop', status: 'succeeded' },
    })
    expect(got && isVerified(secret, got)).toBe(true)
    expect(got && isVerified(`whsec_${btoa('another secret, of another one')}`, got)).toBe(false)
    expect(await world.attempts(id)).toMatchObject([
      {
        eventId,
        eventType: 'deploy_ended',
        attempt: 1,
        statusCode: 200,
        responseBody: 'thanks',
        request: { url: `${receiver.url}/hooks`, headers: { 'webhook-id': eventId }, body: got?.body },
      },
    ])
    expect((await world.attempts(id))[0]).not.toHaveProperty('error')
  })

  test('of before the webhook, or of another type or place, is not sent', async () => {
    world.happen('deploy_ended', { serviceId })
    const other = await createService(world.server, { name: 'other' })
    await world.create({ url: receiver.url, eventFilter: ['deploy_ended'], serviceIds: [serviceId] })
    world.happen('deploy_started', { serviceId })
    world.happen('deploy_ended', { serviceId: other })
    const wanted = world.happen('deploy_ended', { serviceId })
    await world.settled()
    expect(receiver.received.map(({ id }) => id)).toEqual([wanted])
  })

  test('is sent to webhooks of the project or environment that its service is in', async () => {
    const project = (await world.api<{ id: string }>('/projects', { json: { name: 'shop' } })).body.id
    const inProject = { json: { name: 'production', projectId: project } }
    const environment = (await world.api<{ id: string }>('/environments', inProject)).body.id
    const inside = await createService(world.server, { name: 'inside', environmentId: environment })
    await world.settled()
    await world.create({ url: `${receiver.url}/project`, projectIds: [project] })
    await world.create({ url: `${receiver.url}/environment`, environmentIds: [environment] })
    world.happen('server_failed', { serviceId })
    world.happen('server_failed', { serviceId: inside })
    await world.settled()
    expect(receiver.received.map(({ path }) => path).sort()).toEqual(['/environment', '/project'])
  })
})

describe('order', () => {
  test('is kept for one service', async () => {
    let underWay = 0
    let most = 0
    receiver.answer(async () => {
      most = Math.max(most, ++underWay)
      await Promise.resolve()
      underWay--
      return new Response()
    })
    await world.create({ url: receiver.url })
    const ids = Array.from({ length: 30 }, () => world.happen('server_restarted', { serviceId }))
    await world.settled()
    expect(receiver.received.map(({ id }) => id)).toEqual(ids)
    expect(most).toBe(1)
  })

  test('goes on past an event that fails, which comes again later', async () => {
    const { id } = await world.create({ url: receiver.url })
    const failing = world.happen('server_failed', { serviceId })
    receiver.answer((got) => new Response('no', { status: got.id === failing ? 500 : 200 }))
    const later = [1, 2, 3].map(() => world.happen('server_restarted', { serviceId }))
    await world.settled()
    expect(receiver.received.map((got) => got.id)).toEqual([failing, ...later])
    expect((await world.attempts(id)).at(-1)).toMatchObject({
      eventId: failing,
      statusCode: 500,
      error: 'It answered 500; only 2xx takes the event.',
      nextAttemptAt: expect.any(String),
    })
    receiver.answer(() => new Response())
    await world.clock.advance(6000)
    expect(receiver.received.at(-1)?.id).toBe(failing)
    expect((await world.attempts(id))[0]).toMatchObject({ eventId: failing, attempt: 2, statusCode: 200 })
  })
})

test('33 hours of retries: eight attempts of the same bytes, then the webhook is disabled and says so', async () => {
  receiver.answer(() => new Response('down', { status: 503 }))
  const { id, secret } = await world.create({ url: receiver.url, serviceIds: [serviceId] })
  const everything = startReceiver()
  await world.create({ url: everything.url, eventFilter: ['webhook_disabled'] })
  const eventId = world.happen('deploy_ended', { serviceId })
  const beganAt = world.clock.now()
  await world.clock.advance(30 * HOUR_MS)
  expect(receiver.received).toHaveLength(7)
  expect((await world.webhook(id)).enabled).toBe(true)
  await world.clock.advance(6 * HOUR_MS)
  expect(receiver.received).toHaveLength(8)
  expect(new Set(receiver.received.map(({ id: eventOf }) => eventOf))).toEqual(new Set([eventId]))
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1)
  expect(new Set(receiver.received.map(({ timestamp }) => timestamp)).size).toBe(8)
  expect(receiver.received.every((got) => isVerified(secret, got))).toBe(true)
  const hours = ((receiver.received[7]?.timestamp ?? 0) * 1000 - beganAt) / HOUR_MS
  expect(hours).toBeGreaterThan(31)
  expect(hours).toBeLessThan(35)
  const reason = 'An event could not be delivered in 8 attempts.'
  expect(await world.webhook(id)).toMatchObject({ enabled: false, disabledReason: reason })
  expect(JSON.parse(everything.received[0]?.body ?? '{}')).toMatchObject({ type: 'webhook_disabled' })
  const { body: event } = await world.api(`/events/${everything.received[0]?.id}`)
  expect(event).toMatchObject({ type: 'webhook_disabled', details: { webhookId: id, name: 'hook', reason } })
  expect(event).not.toHaveProperty('serviceId')
  world.happen('deploy_ended', { serviceId })
  await world.clock.advance(HOUR_MS)
  expect(receiver.received).toHaveLength(8)
  everything.close()
})

test('a clock that was set back by a month leaves no retry waiting for that month, nor a timer longer than those of the platform', async () => {
  receiver.answer(() => new Response('down', { status: 503 }))
  await world.create({ url: receiver.url })
  world.happen('deploy_ended', { serviceId })
  await world.settled()
  const { db, context } = world.server
  db.query('UPDATE webhook_queue SET next_attempt_at = next_attempt_at + $month').run({ month: 30 * 24 * HOUR_MS })
  const waits: number[] = []
  const noting = (ms: number) => {
    waits.push(ms)
    return () => {}
  }
  createAlarm({ ...context, after: noting }, () => {}).setForNextRetry()
  expect(waits).toEqual([HOUR_MS])
  world.killSending()
  await world.settled()
  expect(receiver.received).toHaveLength(2)
})

describe('what a receiver answers', () => {
  test('410 disables the webhook at once', async () => {
    receiver.answer(() => new Response(null, { status: 410 }))
    const { id } = await world.create({ url: receiver.url })
    world.happen('deploy_ended', { serviceId })
    await until('it is disabled', async () => !(await world.webhook(id)).enabled)
    expect((await world.webhook(id)).disabledReason).toContain('410')
  })

  test('a redirect is not followed', async () => {
    const other = startReceiver()
    receiver.answer(() => Response.redirect(other.url, 307))
    const { id } = await world.create({ url: receiver.url })
    world.happen('deploy_ended', { serviceId })
    await world.settled()
    expect(other.received).toEqual([])
    expect((await world.attempts(id))[0]).toMatchObject({ statusCode: 307, error: expect.stringContaining('redirects are not followed') })
    other.close()
  })

  test('an answer without end is cut, and counts', async () => {
    let sentBytes = 0
    receiver.answer(
      () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              sentBytes += 65_536
              controller.enqueue(new Uint8Array(65_536).fill(120))
            },
          }),
        ),
    )
    const { id } = await world.create({ url: receiver.url })
    world.happen('deploy_ended', { serviceId })
    await world.settled()
    const [attempt] = await world.attempts(id)
    expect(attempt?.responseBody).toBe('x'.repeat(4096))
    expect(attempt).not.toHaveProperty('error')
    expect(sentBytes).toBeLessThan(64 * 1024 * 1024)
  })

  test('text that is no UTF-8 and one that is cut in the middle of a letter are told as far as they can be', async () => {
    receiver.answer(() => new Response(new Uint8Array([0xff, 0x00, 0x41])))
    const { id } = await world.create({ url: receiver.url })
    world.happen('deploy_ended', { serviceId })
    await world.settled()
    expect((await world.attempts(id))[0]?.responseBody).toBe('\ufffd\u0000A')
  })

  test('nothing, or the half of it, is a failure', async () => {
    const breaking = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data(socket) {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')
          socket.end()
        },
      },
    })
    const { id } = await world.create({ url: `http://127.0.0.1:${breaking.port}` })
    world.happen('deploy_ended', { serviceId })
    await world.settled()
    expect((await world.attempts(id))[0]?.error).toContain('broke off')
    breaking.stop(true)
    await world.clock.advance(6000)
    expect((await world.attempts(id))[0]).toMatchObject({ attempt: 2, error: expect.stringContaining('could not be reached') })
  })

  test('a receiver that hangs keeps no other waiting', async () => {
    await world.create({ url: receiver.url })
    world.happen('server_restarted', { serviceId })
    await world.settled()
    const hanging = startReceiver()
    hanging.answer(() => new Promise(() => {}))
    for (let index = 0; index < 40; index++) await world.create({ url: hanging.url })
    for (let index = 0; index < 20; index++) world.happen('server_restarted', { serviceId })
    await receiver.got(21)
    // Places of a workspace for those that have not answered yet.
    await hanging.got(32)
    expect(hanging.received).toHaveLength(32)
    hanging.close()
  })
})

describe('a secret that is rotated', () => {
  test('signs beside the new one for 24 hours', async () => {
    const { id, secret: old } = await world.create({ url: receiver.url })
    const { status, body } = await world.api<{ secret: string; previousSecretExpiresAt: string }>(`/webhooks/${id}/rotate-secret`, {
      method: 'POST',
    })
    expect(status).toBe(200)
    expect(Date.parse(body.previousSecretExpiresAt)).toBe(world.clock.now() + 24 * HOUR_MS)
    expect(body.secret).not.toBe(old)
    const sentNow = async () => {
      world.happen('deploy_ended', { serviceId })
      await world.settled()
      const got = receiver.received.at(-1)
      return { old: got && isVerified(old, got), new: got && isVerified(body.secret, got) }
    }
    expect(await sentNow()).toEqual({ old: true, new: true })
    await world.clock.advance(24 * HOUR_MS - 1)
    expect(await sentNow()).toEqual({ old: true, new: true })
    await world.clock.advance(1)
    expect(await sentNow()).toEqual({ old: false, new: true })
    expect(await world.webhook(id)).not.toHaveProperty('previousSecretExpiresAt')
  })

  test('is kept encrypted and never shown again', async () => {
    const { id, secret } = await world.create({ url: receiver.url })
    const dump = JSON.stringify(world.server.db.query('SELECT * FROM webhooks').all())
    expect(dump).not.toContain(secret.slice('whsec_'.length))
    const shown = await Promise.all([world.api('/webhooks'), world.api(`/webhooks/${id}`), world.api('/audit-logs')])
    expect(JSON.stringify(shown.map(({ body }) => body))).not.toContain(secret.slice('whsec_'.length))
  })
})

describe('sending again', () => {
  test('one event has the body and the id that it had', async () => {
    const { id } = await world.create({ url: receiver.url })
    const eventId = world.happen('deploy_ended', { serviceId })
    await world.settled()
    world.server.db.run("UPDATE services SET name = 'renamed'")
    expect((await world.api(`/webhooks/${id}/resend`, { json: { eventId } })).status).toBe(202)
    await world.settled()
    const [first, second] = receiver.received
    expect(receiver.received).toHaveLength(2)
    expect(second?.id).toBe(eventId)
    expect(second?.body).toBe(first?.body)
  })

  test('a range is what the webhook is for, or what of it was missed', async () => {
    const { id } = await world.create({ url: receiver.url, eventFilter: ['deploy_ended'] })
    const from = new Date(world.clock.now()).toISOString()
    const delivered = world.happen('deploy_ended', { serviceId })
    await world.settled()
    await world.api(`/webhooks/${id}`, { method: 'PATCH', json: { enabled: false } })
    world.happen('server_failed', { serviceId })
    const missed = [1, 2, 3].map(() => world.happen('deploy_ended', { serviceId }))
    await world.clock.advance(1000)
    expect((await world.api(`/webhooks/${id}/resend`, { json: { from } })).status).toBe(409)
    await world.api(`/webhooks/${id}`, { method: 'PATCH', json: { enabled: true } })
    await world.settled()
    expect(receiver.received).toHaveLength(1)
    const resent = async (json: Record<string, unknown>) => {
      const before = receiver.received.length
      expect(await world.api(`/webhooks/${id}/resend`, { json })).toMatchObject({ status: 202 })
      await world.settled()
      return receiver.received.slice(before).map((got) => got.id)
    }
    expect(await resent({ from, onlyMissed: true })).toEqual(missed)
    expect(await resent({ from, onlyMissed: true })).toEqual([])
    expect(await resent({ from })).toEqual([delivered, ...missed])
  })

  test('a long range is gone through step by step', async () => {
    const { id } = await world.create({ url: receiver.url, enabled: false, eventFilter: ['deploy_ended'] })
    const from = new Date(world.clock.now()).toISOString()
    const ids = Array.from(
      { length: 900 },
      (_, index) => [index, world.happen(index % 30 === 0 ? 'deploy_ended' : 'server_failed', { serviceId })] as const,
    )
    await world.api(`/webhooks/${id}`, { method: 'PATCH', json: { enabled: true } })
    await world.api(`/webhooks/${id}/resend`, { json: { from } })
    await world.settled()
    expect(receiver.received.map((got) => got.id)).toEqual(ids.filter(([index]) => index % 30 === 0).map(([, eventId]) => eventId))
  })

  test.each([
    [{}, 400],
    [{ eventId: 'evt-00000000000000000000' }, 404],
    [{ eventId: 'evt-00000000000000000000', from: '2030-01-01T00:00:00Z' }, 400],
    [{ to: '2030-01-01T00:00:00Z' }, 400],
    [{ from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' }, 404],
    [{ from: 'yesterday' }, 400],
  ])('%j is refused', async (json, status) => {
    const { id } = await world.create({ url: receiver.url })
    expect((await world.api(`/webhooks/${id}/resend`, { json })).status).toBe(status)
  })
})

describe('a test delivery', () => {
  test('is sent at once, also where the webhook is disabled, and tells the answer', async () => {
    receiver.answer(() => new Response('hello', { status: 418 }))
    const { id, secret } = await world.create({ url: receiver.url, enabled: false })
    const { status, body } = await world.api(`/webhooks/${id}/test`, { method: 'POST' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ eventType: 'webhook_test', statusCode: 418, responseBody: 'hello', error: expect.any(String) })
    expect(body).not.toHaveProperty('nextAttemptAt')
    expect(receiver.received.every((got) => isVerified(secret, got))).toBe(true)
    expect(await world.attempts(id)).toEqual([body])
  })
})

describe('a kill', () => {
  test('loses nothing, and what is sent twice is the same', async () => {
    let answers = 0
    receiver.answer(() => (++answers % 3 === 0 ? new Response(null, { status: 500 }) : new Response()))
    const { secret } = await world.create({ url: receiver.url })
    const ids: string[] = []
    for (let round = 0; round < 10; round++) {
      for (let index = 0; index < 20; index++) ids.push(world.happen('server_restarted', { serviceId }))
      await receiver.got(receiver.received.length + 5)
      world.killSending()
    }
    await world.clock.advance(HOUR_MS)
    expect(new Set(receiver.received.map(({ id }) => id))).toEqual(new Set(ids))
    const bodies = new Map<string, Set<string>>()
    for (const { id, body } of receiver.received) bodies.set(id, (bodies.get(id) ?? new Set()).add(body))
    expect([...bodies.values()].every(({ size }) => size === 1)).toBe(true)
    expect(receiver.received.every((got) => isVerified(secret, got))).toBe(true)
  })
})
