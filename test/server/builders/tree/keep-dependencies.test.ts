import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { KEPT_VARIABLE, keepingInstall } from '../../../../server/builders/tree/keep-dependencies.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'

let box: string
let kept: string
let builds: number
beforeEach(() => {
  box = mkdtempSync(join(tmpdir(), 'kept-'))
  kept = join(box, 'cache/dependencies')
  builds = 0
})
afterEach(() => rmSync(box, { recursive: true, force: true }))

const INSTALL = `mkdir -p node_modules/a sub/node_modules/b
date +%s%N > node_modules/a/index.js
echo b > sub/node_modules/b/index.js
ln -s a/index.js node_modules/link`

interface Build {
  lock?: string
  command?: string
  keeps?: '.venv'
  env?: Record<string, string>
}

/** Builds in a new folder, as each deploy does. */
async function build({ lock = 'one', command = INSTALL, keeps, env = {} }: Build = {}) {
  const dir = join(box, `build ${builds++}`)
  mkdirSync(join(dir, 'sub'), { recursive: true })
  writeFileSync(join(dir, 'lock'), lock)
  writeFileSync(join(dir, 'source.js'), 'x')
  const { exitCode, stdout, stderr } = await runProcess(
    ['/bin/sh', '-c', keepingInstall({ command, inputs: ['lock'], ...(keeps && { keeps }) })],
    {
      cwd: dir,
      env: { PATH: `${dir}/bin:${process.env.PATH}`, [KEPT_VARIABLE]: kept, CPD_DEPLOY_ID: String(builds), ...env },
      timeoutMs: 20_000,
    },
  )
  const read = (path: string) => readFileSync(join(dir, path), 'utf8')
  return { dir, read, exitCode, output: stdout + stderr }
}

test('what an install leaves is put in place again, and each build has copies of its own', async () => {
  const first = await build()
  expect(first.output).toMatch(/Dependencies are kept for builds of the same lock file: \d/)
  const second = await build()
  expect(second.output).toContain('Dependencies are those of an earlier build: lock,')
  for (const path of ['node_modules/a/index.js', 'node_modules/link', 'sub/node_modules/b/index.js'])
    expect(second.read(path)).toBe(first.read(path))
  writeFileSync(join(second.dir, 'node_modules/a/index.js'), 'changed')
  const third = await build()
  expect(third.read('node_modules/a/index.js')).toBe(first.read('node_modules/a/index.js'))
  expect(third.read('source.js')).toBe('x')
})

test('what is in the source goes for what was kept', async () => {
  const first = await build()
  const dir = join(box, `build ${builds}`)
  mkdirSync(join(dir, 'node_modules/stale'), { recursive: true })
  const second = await build()
  expect(existsSync(join(dir, 'node_modules/stale'))).toBe(false)
  expect(second.read('node_modules/a/index.js')).toBe(first.read('node_modules/a/index.js'))
})

test.each<[string, Build]>([
  ['another lock file', { lock: 'two' }],
  ['another command', { command: `${INSTALL}\n:` }],
  ['other variables', { env: { NODE_ENV: 'production' } }],
])('%s is installed', async (_, change) => {
  const first = await build()
  expect((await build(change)).read('node_modules/a/index.js')).not.toBe(first.read('node_modules/a/index.js'))
})

test('an environment of Python is kept for the same interpreter, in place of the empty one', async () => {
  const install = 'mkdir .venv/lib; date +%s%N > .venv/lib/six.py'
  const built = async (version: string) => {
    const dir = join(box, `build ${builds}`)
    mkdirSync(join(dir, '.venv/bin'), { recursive: true })
    symlinkSync(`/usr/bin/python${version}`, join(dir, '.venv/bin/python'))
    return await build({ command: install, keeps: '.venv' })
  }
  const first = await built('3.98')
  const second = await built('3.98')
  expect(second.output).toContain('Dependencies are those of an earlier build')
  expect(second.read('.venv/lib/six.py')).toBe(first.read('.venv/lib/six.py'))
  expect((await built('3.99')).output).not.toContain('of an earlier build')
})

test('the two that were used last are kept, and nothing that a killed build has left', async () => {
  mkdirSync(join(kept, 'new/half'), { recursive: true })
  for (const lock of ['one', 'two', 'one', 'three']) await build({ lock })
  expect(readdirSync(kept)).toHaveLength(2)
  expect(readdirSync(kept)).not.toContain('new')
  expect((await build({ lock: 'one' })).output).toContain('of an earlier build')
  expect((await build({ lock: 'two' })).output).not.toContain('of an earlier build')
})

test('an install that fails fails the step, and one that writes elsewhere is not kept', async () => {
  expect((await build({ command: `${INSTALL}\nexit 3` })).exitCode).toBe(3)
  const elsewhere = await build({ command: `${INSTALL}\necho y > written.js; touch -d 2001-01-01 written.js` })
  expect(elsewhere.exitCode).toBe(0)
  expect(elsewhere.output).toContain('wrote more than node_modules: ./written.js')
  expect(existsSync(kept)).toBe(false)
})

test('where they cannot be kept the build goes on', async () => {
  mkdirSync(join(box, 'cache'))
  writeFileSync(kept, 'no folder')
  const { exitCode, output, read } = await build()
  expect(exitCode).toBe(0)
  expect(output).toContain('are not kept for later builds')
  expect(read('node_modules/a/index.js')).not.toBe('')
})
