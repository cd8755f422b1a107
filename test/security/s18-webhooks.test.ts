import { afterEach, beforeEach, expect, test } from 'vitest'
import { maxAttempts } from '../../shared/webhook.ts'
import { createService } from '../support/apps.ts'
import { type HookReceiver, startReceiver } from '../support/hook-receiver.ts'
import { startWebhookServer, type WebhookServer } from '../support/webhook-server.ts'

const HOUR_MS = 60 * 60 * 1000

/** What S18 names: loopback, link-local, metadata services, private and shared ranges, other spellings of the same, and stand-ins for them. */
const forbidden = [
  '127.0.0.2',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.100.100.200',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  '::ffff:10.0.0.1',
  '::ffff:169.254.169.254',
  'fe80::1',
  'fd00:ec2::254',
  'fc00::1',
  'ff02::1',
  '64:ff9b::a00:1',
  '2002:a00:1::',
  '2001:0:a00:1::',
]

const inUrl = (address: string): string => (address.includes(':') ? `[${address}]` : address)

let world: WebhookServer
let receiver: HookReceiver
/** Answers of the resolver, one for each attempt; the last one stays. */
let answers: string[][]
let asked: string[]

beforeEach(async () => {
  receiver = startReceiver()
  answers = []
  asked = []
  world = await startWebhookServer({
    // The one address that the operator has opened is the receiver's.
    env: { CP_OUTGOING_ALLOW: '127.0.0.1/32' },
    lookup: async (host) => {
      asked.push(host)
      return (answers.length > 1 ? answers.shift() : answers[0]) ?? []
    },
  })
})
afterEach(async () => {
  await world.close()
  receiver.close()
})

const named = (): string => receiver.url.replace('127.0.0.1', 'localhost')

test.each(forbidden)('S18: no webhook is made for %s', async (address) => {
  const { status, body } = await world.api('/webhooks', { json: { name: 'inside', url: `https://${inUrl(address)}/` } })
  expect({ status, body }).toMatchObject({ status: 400, body: { details: [{ path: '/url' }] } })
  const { id } = await world.create({ url: 'https://hooks.example.com/' })
  expect((await world.api(`/webhooks/${id}`, { method: 'PATCH', json: { url: `https://${inUrl(address)}/` } })).status).toBe(400)
})

test.each(forbidden)(
  'S18: a name that leads to %s is refused at the first and at the seventh attempt, and reached in between',
  async (address) => {
    receiver.answer(() => new Response(null, { status: 500 }))
    answers = [[address], ...Array.from({ length: 5 }, () => ['127.0.0.1']), [address], ['127.0.0.1']]
    const serviceId = await createService(world.server, { name: 'shop' })
    const { id } = await world.create({ url: named() })
    world.happen('deploy_ended', { serviceId })
    await world.clock.advance(40 * HOUR_MS)
    const attempts = (await world.attempts(id)).toReversed()
    expect(attempts).toHaveLength(maxAttempts)
    const refused = attempts.flatMap(({ attempt, error = '', statusCode }) =>
      error.includes('private network') && statusCode === undefined ? [attempt] : [],
    )
    expect(refused).toEqual([1, 7])
    expect(receiver.received).toHaveLength(maxAttempts - 2)
    expect(asked).toEqual(Array.from({ length: maxAttempts }, () => 'localhost'))
  },
)

test('S18: an address is pinned: what the resolver says a moment later changes nothing', async () => {
  answers = [['127.0.0.1'], ['10.0.0.1']]
  const serviceId = await createService(world.server, { name: 'shop' })
  await world.create({ url: named() })
  world.happen('deploy_ended', { serviceId })
  await world.settled()
  expect(asked).toEqual(['localhost'])
  expect(receiver.received.map(({ headers }) => headers.host)).toEqual([new URL(named()).host])
})

test('S18: a test delivery goes the same way', async () => {
  answers = [['169.254.169.254']]
  const { id } = await world.create({ url: named() })
  const { status, body } = await world.api(`/webhooks/${id}/test`, { method: 'POST' })
  expect({ status, body }).toMatchObject({ status: 200, body: { error: expect.stringContaining('private network') } })
})
