import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { eventually, exchangeRaw, startRawUpstream } from '../world.ts'
import { converse } from './conversation.ts'
import { type DatabaseWorld, KV_HOST, KV_ID, keyValueAt, PG_HOST, PG_ID, postgresAt, startDatabaseWorld } from './world.ts'

let world: DatabaseWorld
let heard: string[]
const store = startRawUpstream((socket, text) => {
  heard.push(text)
  socket.write('+OK\r\n')
})

beforeAll(async () => {
  world = await startDatabaseWorld()
})
afterEach(() => eventually(async () => (await world.client.status()).activeConnections === 0))
afterAll(async () => {
  await world.close()
  store.stop()
})

const enter = async (servername?: string) => {
  heard = []
  return await converse(world, { port: world.keyValuePort, ...(servername !== undefined && { servername }) })
}
const auth = `*3\r\n$4\r\nAUTH\r\n$${KV_ID.length}\r\n${KV_ID}\r\n$2\r\npw\r\n`

test('the user of the first AUTH tells the store, and all is passed on as it came', async () => {
  await world.list({ [KV_ID]: keyValueAt(store.port) })
  for (const servername of [KV_HOST, undefined]) {
    const client = await enter(servername)
    client.say(`${auth}PING\r\n`)
    await client.hears((text) => text.includes('+OK'))
    expect(heard[0]).toBe(`${auth}PING\r\n`)
    expect(client.socket.getPeerCertificate().subject.CN).toBe(KV_HOST)
    client.socket.end()
  }
})

test('HELLO enters too, in pieces and behind other words', async () => {
  const client = await enter(KV_HOST)
  client.say('PING\r\nHELLO 3\r\nHEL')
  expect(await client.hears((text) => text.split('\r\n').length > 2)).toMatch(/^-NOAUTH Authentication required\.\r\n-NOAUTH HELLO must/)
  client.say(`LO 3 AUTH ${KV_ID} pw\r\n`)
  await client.hears((text) => text.endsWith('+OK\r\n'))
  expect(heard.at(-1)).toBe(`HELLO 3 AUTH ${KV_ID} pw\r\n`)
  client.socket.destroy()
})

test.each([
  ['-ERR connections from 127.0.0.1 are not allowed', { allow: ['10.0.0.0/8'] }],
  ['-ERR the key-value store cache is suspended', { state: 'suspended', targets: [] }],
  ['-LOADING the key-value store cache is starting', { state: 'unavailable', targets: [] }],
  ['-ERR the key-value store does not answer', { targets: [{ instanceId: 'i', host: '127.0.0.1', port: 1 }] }],
] as const)('%s', async (words, changes) => {
  await world.list({
    [KV_ID]: {
      ...keyValueAt(store.port),
      ...changes,
      allow: [...('allow' in changes ? changes.allow : ['127.0.0.1'])],
      targets: [...('targets' in changes ? changes.targets : [])],
    },
  })
  const client = await enter(KV_HOST)
  client.say(auth)
  expect((await client.ended).toString()).toContain(words)
  expect(heard).toEqual([])
})

test('no database is reached here, nor what there is not', async () => {
  await world.list({ [PG_ID]: postgresAt(store.port, { host: PG_HOST }) })
  for (const user of [PG_ID, KV_ID, 'cpd', 'default', '__proto__', '']) {
    const client = await enter(KV_HOST)
    client.say(`*3\r\n$4\r\nAUTH\r\n$${user.length}\r\n${user}\r\n$2\r\npw\r\n`)
    expect((await client.ended).toString()).toMatch(/^-WRONGPASS/)
  }
  expect(heard).toEqual([])
})

test('in clear it is said that TLS is required', async () => {
  expect((await exchangeRaw(world.keyValuePort, 'PING\r\n')).text).toMatch(/^-ERR TLS is required.*rediss:/)
})

test('who never says whom he wants is sent away', async () => {
  const client = await enter(KV_HOST)
  client.say('PING\r\n'.repeat(40))
  expect((await client.ended).toString().match(/-NOAUTH/g)?.length).toBe(16)
})
