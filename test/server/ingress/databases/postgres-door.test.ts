import { afterEach, beforeEach, expect, test } from 'vitest'
import { connectRaw, eventually, exchangeRaw, type RawConnection } from '../world.ts'
import { beginPostgres, converse } from './conversation.ts'
import { type FakePostgres, greeting, KEY, READY, startFakePostgres } from './fake-postgres.ts'
import { cancelRequest, errorIn, gssRequest, message, sslRequest, startup } from './packets.ts'
import { type DatabaseWorld, PG_HOST, PG_ID, postgresAt, startDatabaseWorld } from './world.ts'

let world: DatabaseWorld
let database: FakePostgres

beforeEach(async () => {
  world = await startDatabaseWorld({ headTimeoutMs: 300, lingerMs: 100 })
  database = startFakePostgres()
  await world.list({ [PG_ID]: postgresAt(database.port) })
})
afterEach(async () => {
  await world.close()
  database.stop()
})

const isReady = (text: string): boolean => text.endsWith(READY.toString('latin1'))

test('a session is passed on as it comes, from its first packet on', async () => {
  const client = await beginPostgres(world)
  await client.hears(isReady)
  client.say(message('Q', 'SELECT 1\0'))
  await client.hears((text) => text.length === greeting.length + READY.length)
  expect(database.heard[0]).toEqual(Buffer.concat([startup({ user: 'ada', database: 'shop' }), message('Q', 'SELECT 1\0')]))
  client.socket.end()
  await client.ended
})

test('TLS may come at once, if it offers the protocol', async () => {
  const client = await converse(world, { port: world.postgresPort, servername: PG_HOST, protocols: ['postgresql'] })
  client.say(startup({ user: 'ada' }))
  await client.hears(isReady)
  expect(client.socket.alpnProtocol).toBe('postgresql')
  client.socket.destroy()
  await expect(converse(world, { port: world.postgresPort, servername: PG_HOST })).rejects.toThrow(
    /no_application_protocol|closed|ECONNRESET/i,
  )
  await expect(converse(world, { port: world.postgresPort, servername: PG_HOST, protocols: ['h2'] })).rejects.toThrow()
})

test('encryption by GSSAPI is declined, and TLS may follow', async () => {
  const raw = await connectRaw(world.postgresPort)
  raw.send(gssRequest)
  await raw.until((text) => text === 'N')
  raw.send(sslRequest)
  await raw.until((text) => text === 'NS')
  raw.kill()
})

test.each([
  ['something behind the request for TLS', Buffer.concat([sslRequest, startup({ user: 'ada' })]), ''],
  ['a request of another protocol', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 'invalid startup packet'],
  ['a session in clear', startup({ user: 'ada' }), 'SSL is required'],
  ['an old version', startup({ user: 'ada' }, 2 << 16), 'unsupported frontend protocol'],
  ['nothing at all, for too long', Buffer.from([0]), ''],
])('%s reaches no database', async (_, bytes, words) => {
  const { text } = await exchangeRaw(world.postgresPort, bytes)
  expect(errorIn(Buffer.from(text, 'latin1'))?.M ?? '').toContain(words)
  expect(database.connectionCount()).toBe(0)
})

test('who says nothing inside of TLS is let go, too', async () => {
  const client = await converse(world, { port: world.postgresPort, servername: PG_HOST, protocols: ['postgresql'] })
  client.say(Buffer.from([0, 0]))
  expect(await client.ended).toHaveLength(0)
  await eventually(async () => (await world.client.status()).activeConnections === 0)
})

function hangUp(client: RawConnection): boolean {
  client.kill()
  return false
}

test('what is wrong is said in words, with a code', async () => {
  const client = await beginPostgres(world, { parameters: { user: 'cpd_admin' } })
  expect(errorIn(await client.ended)).toMatchObject({ S: 'FATAL', V: 'FATAL', C: '28000', M: expect.stringContaining('cpd_admin') })
  database.stop()
  // A child that another file is just starting has the listener until its exec.
  await eventually(() => connectRaw(database.port).then(hangUp, () => true))
  const late = await beginPostgres(world)
  expect(errorIn(await late.ended)).toMatchObject({ C: '57P03', M: expect.stringContaining('does not answer') })
})

test('who leaves the list is told, and who stays goes on', async () => {
  const client = await beginPostgres(world)
  await client.hears(isReady)
  await world.list({ [PG_ID]: postgresAt(database.port, { name: 'renamed', state: 'unavailable', targets: [] }) })
  client.say(message('Q', 'SELECT 1\0'))
  await client.hears((text) => text.length > greeting.length)
  await world.list({ [PG_ID]: postgresAt(database.port, { allow: ['10.0.0.0/8'] }) })
  expect(errorIn((await client.ended).subarray(greeting.length + READY.length))).toMatchObject({ C: '57P01' })
})

test('a request to cancel is led by pid and key, in clear and inside of TLS, and forgotten with the session', async () => {
  const client = await beginPostgres(world)
  await client.hears(isReady)
  const wanted = cancelRequest(42, KEY)
  await exchangeRaw(world.postgresPort, wanted)
  expect(database.heard[1]).toEqual(wanted)
  const inside = await converse(world, { port: world.postgresPort, servername: PG_HOST, protocols: ['postgresql'] })
  inside.say(wanted)
  await inside.ended
  expect(database.heard[2]).toEqual(wanted)
  for (const other of [cancelRequest(43, KEY), cancelRequest(42, Buffer.from([1, 2, 3, 5])), cancelRequest(42, Buffer.alloc(256))])
    await exchangeRaw(world.postgresPort, other)
  client.socket.destroy()
  await eventually(async () => (await world.client.status()).activeConnections === 0)
  await exchangeRaw(world.postgresPort, wanted)
  expect(database.connectionCount()).toBe(3)
})

test('an end is told: to who is idle at once, to who is in a transaction after some time', async () => {
  const begun = startFakePostgres(() => message('Z', 'T'))
  await world.list({ [PG_ID]: postgresAt(begun.port) })
  const idle = await beginPostgres(world)
  await idle.hears(isReady)
  const busy = await beginPostgres(world)
  await busy.hears(isReady)
  busy.say(message('Q', 'BEGIN\0'))
  await busy.hears((text) => text.endsWith(message('Z', 'T').toString('latin1')))
  const over: string[] = []
  void idle.ended.then(() => over.push('idle'))
  void busy.ended.then(() => over.push('busy'))
  void world.ingress.close()
  expect(errorIn((await idle.ended).subarray(greeting.length))).toMatchObject({ C: '57P01' })
  expect(errorIn((await busy.ended).subarray(greeting.length + READY.length))).toMatchObject({ C: '57P01' })
  expect(over).toEqual(['idle', 'busy'])
  begun.stop()
})

test('an instance says how many are connected, and cuts them off when it is asked to', async () => {
  const client = await beginPostgres(world)
  await client.hears(isReady)
  const instanceId = `i-${database.port}`
  expect(await world.client.drainState(instanceId)).toEqual({ inFlight: 0, tunnels: 1 })
  await world.client.closeTunnels(instanceId)
  await client.ended
  await eventually(async () => (await world.client.drainState(instanceId)).tunnels === 0)
})
