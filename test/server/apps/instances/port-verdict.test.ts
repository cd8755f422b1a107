import { describe, expect, test } from 'vitest'
import { judgePorts, type PortVerdict, type SeenPorts } from '../../../../server/apps/instances/port-verdict.ts'
import type { Listener } from '../../../../server/engines/port/port.ts'
import { listenersAmong, ownListenersAmong } from '../../../../server/engines/process/network/listeners.ts'

const at = (port: number, reach: Listener['reach'] = 'address'): Listener => ({ port, reach })
const judge = (listeners: Listener[], changes: Partial<SeenPorts> = {}): PortVerdict =>
  judgePorts({ listeners, expected: 10_000, isPrivate: false, ...changes })
const use = (port: number, all = [port]) => ({ kind: 'use', port, all })
const reasonOf = (verdict: PortVerdict): string => (verdict.kind === 'misplaced' ? verdict.reason : verdict.kind)

describe('an instance that listens', () => {
  test('where it was told to is used there, on loopback too, whatever else it has', () => {
    expect(judge([at(10_000)])).toEqual(use(10_000))
    expect(judge([at(3000), at(10_000, 'loopback')])).toEqual(use(10_000))
  })
  test('nowhere, or with a debugger only, is waited for', () => {
    expect(judge([])).toEqual({ kind: 'none' })
    expect(judge([at(9229, 'loopback'), at(4369)])).toEqual({ kind: 'none' })
  })
  test('on exactly one other port is used there, beside what it keeps to itself', () => {
    expect(judge([at(3000)])).toEqual(use(3000))
    expect(judge([at(3000), at(9000, 'loopback'), at(9229)])).toEqual(use(3000))
  })
  test('on several others is refused, and told which', () => {
    expect(reasonOf(judge([at(3000), at(4000), at(5000)]))).toBe(
      'It listens on ports 3000, 4000 and 5000, and not on $PORT (10000), so nobody can tell which to use. Have it listen on $PORT.',
    )
  })
  test('on another port of loopback only is refused, and told which', () => {
    expect(reasonOf(judge([at(3000, 'loopback')]))).toBe(
      'It listens on 127.0.0.1:3000 only, and not on $PORT (10000). Have it listen on $PORT (on 0.0.0.0 or 127.0.0.1).',
    )
    expect(reasonOf(judge([at(6379, 'loopback')], { isPrivate: true }))).toContain('set its port as PORT among the variables')
  })
  test('where it was told to, but where nobody comes, is refused', () => {
    expect(reasonOf(judge([at(10_000, 'nowhere')]))).toBe(
      'It listens on [::1]:10000 only, where it is not reached. Have it listen on 0.0.0.0.',
    )
  })
  test('as a private service on several is used at the lowest, and reached at all', () => {
    expect(judge([at(5672), at(15_672)], { isPrivate: true })).toEqual(use(5672, [5672, 15_672]))
  })
  test('on very many is told so in few words', () => {
    const many = Array.from({ length: 500 }, (_, index) => at(3000 + index))
    expect(reasonOf(judge(many)).length).toBeLessThan(250)
    expect(reasonOf(judge(many))).toContain('3007 and 492 more')
  })
})

const socket = (localAddress: string, localPort: number, changes: { uid?: number; inode?: number } = {}) => ({
  ...{ localAddress, localPort, remoteAddress: '0.0.0.0', isListening: true, isOpen: false, uid: 7, inode: 1, ...changes },
})

test('sockets become ports, each with the best way to it', () => {
  const sockets = [
    socket('127.0.0.1', 80),
    socket('0.0.0.0', 80),
    socket('::1', 81),
    socket('127.0.0.2', 82),
    socket('::1', 82),
    socket('10.201.128.1', 83),
    socket('10.201.128.2', 84),
    socket('::', 79),
  ]
  expect(listenersAmong(sockets, '10.201.128.1')).toEqual([
    at(79),
    at(80),
    at(81, 'nowhere'),
    at(82, 'loopback'),
    at(83),
    at(84, 'nowhere'),
  ])
  expect(listenersAmong([socket('127.0.0.1', 80)], '127.0.0.1')).toEqual([at(80, 'loopback')])
})

test('in a shared network an instance has the ports of its own sockets, and is not reached where another user listens, too', () => {
  const sockets = [
    socket('0.0.0.0', 80),
    socket('0.0.0.0', 81, { uid: 8, inode: 2 }),
    socket('::', 82),
    socket('127.0.0.1', 82, { uid: 8, inode: 2 }),
    socket('127.0.0.1', 83),
    socket('127.0.0.9', 83, { uid: 8, inode: 2 }),
    socket('0.0.0.0', 84),
    socket('0.0.0.0', 84, { inode: 3 }),
  ]
  expect(ownListenersAmong(sockets, new Set([1]), '127.0.0.1')).toEqual([at(80), at(82, 'nowhere'), at(83, 'loopback'), at(84)])
})
