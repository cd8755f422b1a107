import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { eventually, startRawUpstream } from '../world.ts'
import { beginPostgres, type Conversation, converse } from './conversation.ts'
import { greeting, startFakePostgres } from './fake-postgres.ts'
import { errorIn, message } from './packets.ts'
import { type DatabaseWorld, KV_HOST, KV_ID, keyValueAt, PG_ID, postgresAt, startDatabaseWorld } from './world.ts'

/** Clients whom the allow list lets in and who have no password. */

let world: DatabaseWorld
let silentCount = 0
const silent = startRawUpstream((_socket, text) => {
  if (text.includes('user')) silentCount++
})
const refusing = startRawUpstream((socket) => void socket.write('-WRONGPASS no\r\n'))
const database = startFakePostgres()

beforeAll(async () => {
  world = await startDatabaseWorld({ loginWaitMs: 1500, loginTimeoutMs: 1200, maxLogins: 3, maxLoginsPerAddress: 2, lingerMs: 100 })
})
afterEach(() => eventually(async () => (await world.client.status()).activeConnections === 0))
afterAll(async () => {
  await world.close()
  for (const upstream of [silent, refusing, database]) upstream.stop()
})

test('a few of them reach a database at a time; they are let go after a while, in words', async () => {
  await world.list({ [PG_ID]: postgresAt(silent.port) })
  const clients = await Promise.all(Array.from({ length: 5 }, () => beginPostgres(world)))
  await eventually(() => silentCount === 2)
  const words = await Promise.all(clients.map(({ ended }) => ended))
  expect(words.map((bytes) => errorIn(bytes)?.C)).toEqual(Array(5).fill('57P03'))
  expect(silentCount).toBeLessThanOrEqual(4)
})

test('who is let in stays for as long as he likes, and makes room for the next', async () => {
  await world.list({ [PG_ID]: postgresAt(database.port) })
  const clients: Conversation[] = []
  for (let count = 0; count < 6; count++) clients.push(await beginPostgres(world))
  for (const client of clients) await client.hears((text) => text.length >= greeting.length)
  const late = await beginPostgres(world, { parameters: { user: 'late' } })
  await late.hears((text) => text.length >= greeting.length)
  for (const client of [...clients, late]) {
    client.say(message('Q', 'SELECT 1\0'))
    await client.hears((text) => text.length > greeting.length)
    client.socket.destroy()
  }
})

test('a wrong password of a key-value store is no way to keep a connection', async () => {
  await world.list({ [KV_ID]: keyValueAt(refusing.port) })
  const client = await converse(world, { port: world.keyValuePort, servername: KV_HOST })
  client.say(`AUTH ${KV_ID} guess\r\n`)
  await client.hears((text) => text.includes('WRONGPASS'))
  client.say('PING\r\n')
  expect((await client.ended).toString()).toMatch(/^-WRONGPASS/)
})
