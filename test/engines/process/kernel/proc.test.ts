import { expect, test } from 'vitest'
import { isAlive, type ProcessStat, parseStat, readStat, startedAt, treeOf } from '../../../../server/engines/process/kernel/proc.ts'
import { parseExit } from '../../../../server/engines/process/records/record.ts'
import { spawnProcess } from '../../../../server/platform/process/spawn.ts'

const line = '4211 (a) R (b c) S 17 4211 4200 0 -1 4194560 1 2 3 4 100 20 3 4 20 0 1 0 987654 2600000 431 18446744073709551615'

test('a stat line is read past any name', () => {
  expect(parseStat(line)).toEqual({
    pid: 4211,
    state: 'S',
    parentPid: 17,
    groupId: 4211,
    sessionId: 4200,
    cpuTicks: 127,
    startTicks: 987654,
    residentPages: 431,
  })
})

test('a line that was cut off is none', () => {
  expect(parseStat('')).toBeUndefined()
  expect(parseStat('4211 (sh) S 17 42')).toBeUndefined()
})

test('a process is known by pid and start together', async () => {
  const child = spawnProcess(['/bin/sleep', '1000'])
  const identity = { pid: child.pid, startTicks: readStat(child.pid)?.startTicks ?? 0 }
  expect(isAlive(identity)).toBe(true)
  expect(isAlive({ ...identity, startTicks: identity.startTicks - 1 })).toBe(false)
  expect(Math.abs(Date.parse(startedAt(identity)) - Date.now())).toBeLessThan(5000)
  child.kill('SIGKILL')
  await child.exited
  expect(isAlive(identity)).toBe(false)
})

const stat = (pid: number, parentPid: number, sessionId: number, changes: Partial<ProcessStat> = {}): ProcessStat => ({
  ...{ pid, parentPid, sessionId, groupId: sessionId, state: 'S', startTicks: 5, cpuTicks: 0, residentPages: 0 },
  ...changes,
})

test('a tree is the session and everything that descends from it', () => {
  const processes = [
    stat(10, 1, 10),
    stat(11, 10, 10),
    stat(12, 11, 12),
    stat(13, 12, 13),
    stat(14, 1, 10),
    stat(15, 1, 15),
    stat(16, 10, 10, { state: 'Z' }),
  ]
  expect(treeOf({ pid: 10, startTicks: 5 }, processes)).toEqual([10, 11, 12, 13, 14])
})

test('a tree outlives its root, but is nothing of a newcomer with the same pid', () => {
  expect(treeOf({ pid: 10, startTicks: 5 }, [stat(11, 1, 10)])).toEqual([11])
  expect(treeOf({ pid: 10, startTicks: 5 }, [stat(10, 1, 10, { startTicks: 9 }), stat(11, 10, 10)])).toEqual([])
})

test('the record of an end tells signals from codes', () => {
  expect(parseExit('0\n')).toEqual({ exitCode: 0, signal: null })
  expect(parseExit('137\n')).toEqual({ exitCode: 137, signal: null })
  expect(parseExit('Killed\n137\n')).toEqual({ exitCode: null, signal: 'SIGKILL' })
  expect(parseExit('cpd-monitor: line 9: 31 Segmentation fault (core dumped)\n139\n')).toEqual({ exitCode: null, signal: 'SIGSEGV' })
  expect(parseExit('unknown\n')).toEqual({ exitCode: null, signal: null })
})

test('a record that is not complete is none', () => {
  expect(parseExit('')).toBeUndefined()
  expect(parseExit('Killed\n')).toBeUndefined()
  expect(parseExit('User defined signal 1\n')).toBeUndefined()
  expect(parseExit('Killed\n13')).toBeUndefined()
})
