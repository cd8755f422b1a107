import { expect, test } from 'vitest'
import { listeningSocketsOf, socketsOf } from '../../../../server/engines/process/network/loopback.ts'

const CONNECTIONS = 4000

test('of a network with thousands of connections the listeners and some others are looked at', async () => {
  const nothing = { data() {} }
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: nothing })
  const clients: Bun.Socket[] = []
  try {
    while (clients.length < CONNECTIONS) clients.push(await Bun.connect({ hostname: '127.0.0.1', port: server.port, socket: nothing }))
    const here = socketsOf(process.pid).filter(({ localPort }) => localPort === server.port)
    expect(here.filter(({ isListening }) => isListening)).toHaveLength(1)
    expect(here.length).toBeGreaterThan(100)
    expect(here.length).toBeLessThan(CONNECTIONS)
    const listening = listeningSocketsOf(process.pid)
    expect(listening.filter(({ localPort }) => localPort === server.port)).toHaveLength(1)
    expect(listening.every(({ isListening }) => isListening)).toBe(true)
  } finally {
    for (const client of clients) client.terminate()
    server.stop(true)
  }
})
