import { expect, test } from 'vitest'
import { findFreePort, INSTANCE_PORTS } from '../../../../server/engines/process/network/free-port.ts'
import { createPortPool } from '../../../../server/engines/process/network/port-pool.ts'

const listen = (port: number, hostname = '127.0.0.1') => Bun.listen({ hostname, port, socket: { data: () => {} } })

test('gives a port of the range that can be listened on', () => {
  const port = findFreePort(INSTANCE_PORTS, new Set())
  expect(port).toBeGreaterThanOrEqual(INSTANCE_PORTS.first)
  expect(port).toBeLessThanOrEqual(INSTANCE_PORTS.last)
})

test.each(['127.0.0.1', '0.0.0.0'])('passes over a port that someone listens on at %s', (hostname) => {
  const listener = listen(0, hostname)
  try {
    const { port } = listener
    expect(() => findFreePort({ first: port, last: port }, new Set())).toThrow('are in use')
  } finally {
    listener.stop(true)
  }
})

test('passes over a port that is promised to another', () => {
  const port = findFreePort(INSTANCE_PORTS, new Set())
  expect(() => findFreePort({ first: port, last: port }, new Set([port]))).toThrow('are in use')
})

test('a port that was taken is no other’s until it is given back, nor while it is recorded', () => {
  const recorded: number[] = []
  const pool = createPortPool(() => recorded)
  const [first, second] = [pool.take(), pool.take()]
  expect(first.number).not.toBe(second.number)
  recorded.push(first.number)
  first.release()
  first.release()
  expect(pool.take().number).not.toBe(first.number)
})
