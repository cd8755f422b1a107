import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, expect, test } from 'vitest'
import { lockDataDir } from '../../../../server/platform/files/lock.ts'
import { type SpawnedProcess, spawnProcess } from '../../../../server/platform/process/spawn.ts'
import { makeDataDir } from '../../../support/data-dir.ts'

const data = makeDataDir()
const lockFile = join(data.dir, 'run/lock')
afterAll(data.remove)

let children: SpawnedProcess[] = []
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children = []
})

async function lockInChild(): Promise<{ said: string; child: SpawnedProcess }> {
  const child = spawnProcess([process.execPath, fileURLToPath(import.meta.resolve('./lock-child.ts')), lockFile], { stdout: 'pipe' })
  children.push(child)
  for await (const chunk of child.stdout ?? []) return { said: new TextDecoder().decode(chunk).trim(), child }
  throw new Error('The child said nothing')
}

test('a second process does not get the data directory, and is told what to do', async () => {
  const lock = lockDataDir(lockFile, data.dir)
  expect((await lockInChild()).said).toBe(
    'Another cpd already runs on the data directory. End it first with Ctrl-C or SIGTERM, or give this one another --data.',
  )
  lock.release()
  expect((await lockInChild()).said).toBe('held')
})

test('a killed process holds it no longer', async () => {
  const { said, child } = await lockInChild()
  expect(said).toBe('held')
  expect(() => lockDataDir(lockFile, data.dir)).toThrow('Another cpd')
  child.kill('SIGKILL')
  await child.exited
  lockDataDir(lockFile, data.dir).release()
})

test('the processes it starts do not hold it for it', async () => {
  const lock = lockDataDir(lockFile, data.dir)
  children.push(spawnProcess(['sleep', '60'], { detached: true }))
  lock.release()
  lockDataDir(lockFile, data.dir).release()
})

test('a lock that cannot be used is named, and no other cpd is blamed for it', () => {
  const folder = join(data.dir, 'run/lock-folder')
  mkdirSync(folder)
  expect(() => lockDataDir(folder, data.dir)).toThrow(/lock-folder can't be taken/)
})
