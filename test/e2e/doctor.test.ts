import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Examination } from '../../server/boot/doctor/examine.ts'
import { runProcess, type SpawnedProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import { processesOf } from '../support/leftovers.ts'
import { until } from '../support/until.ts'

const cpd = resolve('dist/cpd')
const env = { PATH: process.env.PATH ?? '', HOME: tmpdir() }
const TIMEOUT_MS = 120_000

let home: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'cpd-no-data-'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

const placesOf = (pid: number): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith(`cpd-doctor-${pid}-`))

/** Starts it and waits until its services run. */
async function startDoctor(): Promise<{ child: SpawnedProcess; place: string }> {
  const output = join(home, `output-${Math.random()}`)
  const child = spawnProcess([cpd, 'doctor', '--data', join(home, 'data')], { env, stdout: { appendTo: output }, stderr: 'stdout' })
  await until('the doctor is at work', () => existsSync(output) && readFileSync(output, 'utf8').includes('trying to break out'), TIMEOUT_MS)
  const [name] = placesOf(child.pid)
  return { child, place: join(tmpdir(), name ?? 'nowhere') }
}

test('S24: the doctor attacks services of its own and tells what it has promised, kept and lost', { timeout: TIMEOUT_MS }, async () => {
  const { exitCode, stdout, stderr } = await runProcess([cpd, 'doctor', '--quick', '--json', '--data', join(home, 'data')], {
    env,
    timeoutMs: TIMEOUT_MS,
  })
  const { verdicts, leftOut } = JSON.parse(stdout) as Examination
  expect(verdicts.filter(({ state }) => state === 'broken')).toEqual([])
  expect(verdicts.flatMap(({ tries }) => tries).reduce((sum, one) => sum + one.attempted, 0)).toBeGreaterThan(100)
  for (const one of verdicts) expect(one.state === 'missing' ? one.reason : 'none').toBeTruthy()
  expect(exitCode).toBe(verdicts.every(({ state }) => state === 'holds') ? 0 : 1)
  expect(leftOut).toEqual(['pressure on processes, memory and CPU: asked for in a hurry (--quick)'])
  expect(stderr).toContain('… trying to break out')
  expect(existsSync(join(home, 'data'))).toBe(false)
})

test('interrupted, it takes everything away that it has made', { timeout: TIMEOUT_MS }, async () => {
  const { child, place } = await startDoctor()
  expect(existsSync(place)).toBe(true)
  child.kill('SIGINT')
  expect((await child.exited).exitCode).toBe(1)
  expect(existsSync(place)).toBe(false)
  expect(processesOf(place)).toEqual([])
})

test('killed, it is tidied up after by its next run', { timeout: TIMEOUT_MS }, async () => {
  const { child, place } = await startDoctor()
  child.kill('SIGKILL')
  await child.exited
  expect(existsSync(place)).toBe(true)
  await runProcess([cpd, 'doctor', '--quick', '--data', join(home, 'data')], { env, timeoutMs: TIMEOUT_MS })
  expect(existsSync(place)).toBe(false)
  expect(processesOf(place)).toEqual([])
})
