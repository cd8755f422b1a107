import { expect, test } from 'vitest'
import { findFreePort, INSTANCE_PORTS, isPortFree } from '../../server/engines/free-port.ts'

const listen = (port: number, hostname = '127.0.0.1') => Bun.listen({ hostname, port, socket: { data: () => {} } })

test('gives a port of the range that can be listened on', async () => {
  const port = await findFreePort(INSTANCE_PORTS, new Set())
  expect(port).toBeGreaterThanOrEqual(INSTANCE_PORTS.first)
  expect(port).toBeLessThanOrEqual(INSTANCE_PORTS.last)
})

test.each(['127.0.0.1', '0.0.0.0'])('passes over a port that someone listens on at %s', async (hostname) => {
  const listener = listen(0, hostname)
  try {
    const { port } = listener
    expect(isPortFree(port)).toBe(false)
    await expect(findFreePort({ first: port, last: port }, new Set())).rejects.toThrow('are in use')
  } finally {
    listener.stop(true)
  }
})

test('passes over a port that is promised to another', async () => {
  const port = await findFreePort(INSTANCE_PORTS, new Set())
  await expect(findFreePort({ first: port, last: port }, new Set([port]))).rejects.toThrow('are in use')
})
