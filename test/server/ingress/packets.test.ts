import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectRaw, proxyTo, startWorld, type World } from './world.ts'

let world: World
let upstream: Bun.TCPSocketListener
/** What instances received, each read of theirs by itself. */
const packets: string[] = []

beforeAll(async () => {
  world = await startWorld()
  upstream = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, bytes) {
        packets.push(bytes.toString('latin1'))
        if (packets.at(-1)?.endsWith('whole')) socket.write('HTTP/1.1 204 No Content\r\n\r\n')
      },
    },
  })
  await world.publish({ 'a.test': proxyTo(upstream.port) })
})

afterAll(async () => {
  upstream.stop(true)
  await world.close()
})

const answers = (count: number) => (text: string) => text.split('204 No Content').length === count + 1

test('a head and the body that came with it reach the instance together, on a new connection and on a pooled one', async () => {
  const client = await connectRaw(world.port)
  for (const count of [1, 2]) {
    packets.length = 0
    client.send('POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nwhole')
    await client.until(answers(count))
    expect(packets).toEqual([expect.stringMatching(/^POST .*\r\n\r\nwhole$/s)])
  }
  client.kill()
})

test('a head does not wait for a body that is yet to come', async () => {
  packets.length = 0
  const client = await connectRaw(world.port)
  client.send('POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\n')
  while (packets.length === 0) await Bun.sleep(5)
  expect(packets).toEqual([expect.stringMatching(/^POST .*\r\n\r\n$/s)])
  client.send('whole')
  await client.until(answers(1))
  client.kill()
})
