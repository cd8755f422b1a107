import { readdirSync, readlinkSync } from 'node:fs'
import { expect, test } from 'vitest'
import { holdNetwork } from '../../../server/engines/process/held-namespaces.ts'
import { readStat } from '../../../server/engines/process/proc.ts'

function heldNetworks(): number {
  const targets = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      // The folder's own descriptor, which is closed by now.
      return ''
    }
  })
  return targets.filter((target) => target.startsWith('net:')).length
}

test('the network of a process is held until it is released', () => {
  const self = readStat(process.pid)
  if (self === undefined) throw new Error('There is no /proc')
  const held = holdNetwork(self)
  expect(held.options).toEqual([expect.stringMatching(/^--net=\/proc\/\d+\/fd\/\d+$/)])
  expect(heldNetworks()).toBe(1)
  held.release()
  expect(heldNetworks()).toBe(0)
})

test('the network of a newcomer with the pid of a process that has ended is not held', () => {
  expect(() => holdNetwork({ pid: process.pid, startTicks: 1 })).toThrow('has ended')
  expect(heldNetworks()).toBe(0)
})
