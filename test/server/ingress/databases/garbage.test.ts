import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCommand } from '../../../../server/ingress/key-value/first-command.ts'
import { readFirstPacket } from '../../../../server/ingress/postgres/first-packet.ts'
import { randomFrom } from '../random.ts'
import { eventually } from '../world.ts'
import { converse } from './conversation.ts'
import { startFakePostgres } from './fake-postgres.ts'
import { cancelRequest, gssRequest, message, sslRequest, startup } from './packets.ts'
import { type DatabaseWorld, KV_HOST, KV_ID, keyValueAt, PG_HOST, PG_ID, postgresAt, startDatabaseWorld } from './world.ts'

let world: DatabaseWorld
const database = startFakePostgres()
const random = randomFrom(7)

beforeAll(async () => {
  world = await startDatabaseWorld({ headTimeoutMs: 1000, lingerMs: 100 })
  await world.list({ [PG_ID]: postgresAt(database.port), [KV_ID]: keyValueAt(database.port) })
})
afterAll(async () => {
  await world.close()
  database.stop()
})

const seeds = [
  sslRequest,
  gssRequest,
  cancelRequest(42, Buffer.from([1, 2, 3, 4])),
  startup({ user: 'ada', database: 'shop' }),
  message('Q', 'SELECT 1\0'),
  Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]),
  Buffer.from('*3\r\n$4\r\nAUTH\r\n$3\r\nred\r\n$2\r\npw\r\n'),
  Buffer.from('HELLO 3 AUTH a b\r\n'),
]

/** Some of what clients say, with bytes changed, joined and cut off. */
function garbage(): Buffer {
  const pieces = Array.from({ length: 1 + random(3) }, () => seeds[random(seeds.length)] ?? sslRequest)
  const bytes = Buffer.concat([...pieces, Buffer.alloc(random(40), random(256))])
  for (let change = random(6); change > 0; change--) bytes[random(bytes.length)] = random(256)
  return bytes.subarray(0, 1 + random(bytes.length))
}

/** What is said in clear is followed by an end, so that nobody has to wait for the deadline. */
function throwAt(port: number): Promise<void> {
  const over = Promise.withResolvers<void>()
  const done = () => over.resolve()
  const say = (socket: Bun.Socket) => {
    socket.write(garbage())
    socket.end()
  }
  void Bun.connect({ hostname: '127.0.0.1', port, socket: { open: say, data() {}, close: done, error: done } }).catch(done)
  return over.promise
}

test('garbage in clear reaches no database, and nothing of it stays', async () => {
  for (let round = 0; round < 60; round++) {
    await Promise.all(Array.from({ length: 10 }, () => Promise.all([throwAt(world.postgresPort), throwAt(world.keyValuePort)])))
  }
  await eventually(async () => (await world.client.status()).activeConnections === 0)
  expect(database.connectionCount()).toBe(0)
}, 60_000)

test('garbage inside of TLS is let in where it names somebody, and nowhere else', async () => {
  let named = 0
  const isNaming = (bytes: Buffer) => readFirstPacket(bytes).kind === 'startup' || readCommand(bytes).kind === 'command'
  for (let round = 0; round < 40; round++) {
    const bytes = garbage()
    if (isNaming(bytes)) named++
    const doors = [
      { port: world.postgresPort, servername: PG_HOST, protocols: ['postgresql'] },
      { port: world.keyValuePort, servername: KV_HOST },
    ]
    for (const door of doors) {
      const client = await converse(world, door)
      client.say(bytes)
      client.socket.end()
      await client.ended
    }
  }
  await eventually(async () => (await world.client.status()).activeConnections === 0)
  expect(database.connectionCount()).toBeLessThanOrEqual(named)
}, 60_000)
