import { expect, test } from 'vitest'
import { findFreePort, INSTANCE_PORTS } from '../../server/engines/free-port.ts'

test('gives a port of the range that can be listened on', async () => {
  const port = await findFreePort(INSTANCE_PORTS, new Set())
  expect(port).toBeGreaterThanOrEqual(INSTANCE_PORTS.first)
  expect(port).toBeLessThanOrEqual(INSTANCE_PORTS.last)
  Bun.listen({ hostname: '127.0.0.1', port, socket: { data: () => {} } }).stop(true)
})

test('passes over a port that someone listens on', async () => {
  const port = await findFreePort(INSTANCE_PORTS, new Set())
  for (const hostname of ['127.0.0.1', '0.0.0.0']) {
    const listener = Bun.listen({ hostname, port, socket: { data: () => {} } })
    try {
      await expect(findFreePort({ first: port, last: port }, new Set())).rejects.toThrow('are in use')
    } finally {
      listener.stop(true)
    }
  }
})

test('passes over a port that is promised to another', async () => {
  const port = await findFreePort(INSTANCE_PORTS, new Set())
  await expect(findFreePort({ first: port, last: port }, new Set([port]))).rejects.toThrow('are in use')
})
