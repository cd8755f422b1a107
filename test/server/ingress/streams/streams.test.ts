import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Stream } from '../../../../server/ingress/tables/route-table.ts'
import { freePorts } from '../../../support/free-ports.ts'
import { until } from '../../../support/until.ts'
import { startWorld, type World } from '../world.ts'

let world: World
const servers: Server[] = []
beforeAll(async () => {
  world = await startWorld({ limits: { connectTimeoutMs: 1000 } })
})
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})
afterAll(() => world.close())

const listen = { host: `127.77.${1 + (process.pid % 250)}.7`, port: freePorts(1)[0] ?? 0 }
let version = 100
const publish = (...ports: number[]) => publishStreams([{ listen, targets: ports.map(targetOf) }])
const publishStreams = (streams: Stream[]) => world.client.publish({ version: ++version, hosts: {}, streams })
const targetOf = (port: number) => ({ instanceId: `i-${port}`, host: '127.0.0.1', port })

/** Gives each connection to `serve`, and its port. */
async function server(serve: (socket: Socket) => void): Promise<number> {
  const made = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    serve(socket)
  })
  servers.push(made)
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  const address = made.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

const named = (name: string) => server((socket) => socket.end(name))

/** What comes back for what is sent, until the other side has closed. */
async function talk(sent: Buffer | string): Promise<Buffer> {
  const socket = connect(listen)
  const parts: Buffer[] = []
  const over = new Promise<void>((resolve, reject) => socket.on('end', resolve).on('error', reject))
  socket.on('data', (bytes) => parts.push(Buffer.from(bytes)))
  socket.end(sent)
  await over
  return Buffer.concat(parts)
}

test('a connection is led to an instance, with what the client says before it is there, and each side closes in its own time', async () => {
  await publish(
    await server((socket) => {
      let text = ''
      socket.on('data', (bytes) => {
        text += bytes
      })
      socket.on('end', () => socket.end(`you said ${text}`))
    }),
  )
  expect(String(await talk('hello'))).toBe('you said hello')
})

test('large transfers pass whole, both ways at once, and at the pace of the slower side', async () => {
  await publish(
    await server((socket) => {
      socket.pipe(socket)
      socket.pause()
      setTimeout(() => socket.resume(), 200)
    }),
  )
  const sent = Buffer.alloc(24 * 1024 * 1024)
  for (let at = 0; at < sent.length; at += 4096) sent.writeUInt32LE(at, at)
  expect((await talk(sent)).equals(sent)).toBe(true)
}, 30_000)

test('instances take turns, and one that is not there is passed over', async () => {
  const [one, two] = [await named('one'), await named('two')]
  await publish(one, two)
  const turns = [await talk(''), await talk(''), await talk(''), await talk('')].map(String)
  expect(turns.toSorted()).toEqual(['one', 'one', 'two', 'two'])
  await publish(freePorts(1)[0] ?? 1, two)
  expect([await talk(''), await talk('')].map(String)).toEqual(['two', 'two'])
})

test('a newer table holds for new connections, while those that are open go on until they are cut', async () => {
  const open: Socket[] = []
  const old = await server((socket) => void open.push(socket))
  await publish(old)
  const client = connect(listen)
  let received = ''
  client.on('data', (bytes) => {
    received += bytes
  })
  const closed = new Promise<void>((resolve) => client.on('close', () => resolve()).on('error', () => {}))
  await until('the instance has it', () => open.length === 1)
  await publish(await named('new'))
  expect(String(await talk(''))).toBe('new')
  open[0]?.write('still here')
  await until('it goes on', () => received === 'still here')
  expect(await world.client.drainState(`i-${old}`)).toEqual({ inFlight: 0, tunnels: 1 })
  await world.client.closeTunnels(`i-${old}`)
  await closed
  expect(await world.client.drainState(`i-${old}`)).toEqual({ inFlight: 0, tunnels: 0 })
})

test('a client whose instances are all away is turned away at once, as is one of an address that is not served any more', async () => {
  await publish(freePorts(1)[0] ?? 1)
  await expect(talk('x')).rejects.toThrow(/ECONNRESET|EPIPE/)
  await publishStreams([])
  // A child that another file is just starting has the socket until its exec: what connects meanwhile is reset when that is over.
  const answer = () => talk('x').then(String, ({ code }) => code)
  expect(await answer()).toMatch(/^ECONN(REFUSED|RESET)$/)
  await until('nobody listens', async () => (await answer()) === 'ECONNREFUSED')
})

test('an address that somebody else listens at is taken as soon as it is free', async () => {
  const squatter = createServer((socket) => socket.end('squatter'))
  await new Promise<void>((resolve) => squatter.listen(listen.port, listen.host, resolve))
  await publish(await named('rightful'))
  expect(String(await talk(''))).toBe('squatter')
  await new Promise((resolve) => squatter.close(resolve))
  await until('it is taken', async () => String(await talk('').catch(() => '')) === 'rightful')
  expect(world.logged.join('\n')).toContain(`cannot be reached at ${listen.host}:${listen.port}`)
})
