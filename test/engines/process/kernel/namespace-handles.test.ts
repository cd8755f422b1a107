import { readlinkSync } from 'node:fs'
import { expect, test } from 'vitest'
import { holdNetwork } from '../../../../server/engines/process/kernel/namespace-handles.ts'
import { readStat } from '../../../../server/engines/process/kernel/proc.ts'

/** What the descriptor leads to that an option names; other tests of this process hold networks as well. */
function targetOf(option = ''): string | undefined {
  try {
    return readlinkSync(option.replace('--net=', ''))
  } catch {
    return undefined
  }
}

test('the network of a process is held until it is released', () => {
  const self = readStat(process.pid)
  if (self === undefined) throw new Error('There is no /proc')
  const held = holdNetwork(self)
  expect(held.options).toEqual([expect.stringMatching(/^--net=\/proc\/\d+\/fd\/\d+$/)])
  const network = readlinkSync('/proc/self/ns/net')
  expect(targetOf(held.options[0])).toBe(network)
  held.release()
  expect(targetOf(held.options[0])).not.toBe(network)
})

test('the network of a newcomer with the pid of a process that has ended is not held', () => {
  expect(() => holdNetwork({ pid: process.pid, startTicks: 1 })).toThrow('has ended')
})
