import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BuildPlan } from '../../../../server/builders/detect/plan.ts'
import type { StepExit } from '../../../../server/builders/port.ts'
import { type BuildOptions, buildRelease, type PlacedStep } from '../../../../server/builders/tree/build.ts'
import { AppError } from '../../../../shared/error.ts'

let sourceDir: string
let ran: PlacedStep[]
let log: string[]
beforeEach(async () => {
  sourceDir = await mkdtemp(join(tmpdir(), 'build-'))
  ran = []
  log = []
})
afterEach(() => rm(sourceDir, { recursive: true, force: true }))

const plan: BuildPlan = {
  runtime: 'node',
  packageManager: 'npm',
  steps: [
    { name: 'install', command: 'npm ci' },
    { name: 'build', command: 'npm run build\nsecond line' },
  ],
  startCommand: 'node .',
  publishPaths: [],
  buildEnv: { A: 'plan', B: 'plan' },
  cacheEnv: { npm_config_cache: 'npm' },
  runtimeEnv: {},
  pathEntries: ['node_modules/.bin', '/tools/bin'],
  readOnlyBinds: [],
  notes: ['A note.'],
}
const site: BuildPlan = { ...plan, runtime: 'static', steps: [], publishPaths: ['dist', 'build'] }

function build(options: Partial<BuildOptions> = {}, exit: StepExit = { exitCode: 0, signal: null }) {
  return buildRelease({
    buildDir: dirname(sourceDir),
    sourceDir,
    owner: undefined,
    cacheDir: '/cache',
    plan,
    env: { B: 'given', PATH: '/evil', npm_config_cache: '/root/.npm' },
    runStep: async (step) => {
      ran.push(step)
      return exit
    },
    log: (line) => log.push(line),
    signal: new AbortController().signal,
    ...options,
  })
}

test('flags for Go that the operator or the service sets come beside ours, which count where both say the same', async () => {
  const flagsWith = async (env: Record<string, string>) => {
    ran = []
    await build({ plan: { ...plan, buildEnv: { GOFLAGS: '-modcacherw' } }, env })
    return ran[0]?.env.GOFLAGS
  }
  expect(await flagsWith({})).toBe('-modcacherw')
  expect(await flagsWith({ GOFLAGS: '' })).toBe('-modcacherw')
  expect(await flagsWith({ GOFLAGS: '-mod=vendor -trimpath' })).toBe('-mod=vendor -trimpath -modcacherw')
})

describe('a build', () => {
  test('tells its plan first and runs its steps in order, in the source, with one environment', async () => {
    expect(await build()).toBe(sourceDir)
    expect(log).toEqual([
      '==> Detected node with npm',
      '    install: npm ci',
      '    build: npm run build …',
      '    start: node .',
      '    A note.',
      '==> install: npm ci',
      '==> build: npm run build …',
      expect.stringMatching(/^ {4}used by install: \d+\.\d s$/),
      expect.stringMatching(/^ {4}used by build: \d+\.\d s$/),
      expect.stringMatching(/^ {4}used in all: \d+\.\d s$/),
      '==> Build succeeded',
    ])
    expect(ran.map(({ command, cwd }) => [command, cwd])).toEqual(plan.steps.map(({ command }) => [command, sourceDir]))
    expect(ran[0]?.env).toEqual({
      A: 'plan',
      B: 'given',
      npm_config_cache: '/cache/npm',
      PATH: `${sourceDir}/node_modules/.bin:/tools/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    })
  })

  test.each([
    [{ exitCode: 7, signal: null }, 'Build failed: npm ci exited with 7; see the build log'],
    [{ exitCode: null, signal: 'SIGSEGV' }, 'Build failed: npm ci was ended by SIGSEGV; see the build log'],
    [{ exitCode: null, signal: 'SIGKILL', timedOut: true }, 'Build failed: npm ci took longer than a build may take'],
    [
      { exitCode: null, signal: 'SIGKILL', oomKilled: true, memoryRemedy: 'set more' },
      'Build failed: npm ci ran out of memory and was killed; set more',
    ],
    [
      { exitCode: 134, signal: null, memoryRemedy: 'set more' },
      'Build failed: npm ci was aborted, as Node.js is when its heap is full; set more',
    ],
  ])('whose step ends with %j stops there and says so', async (exit, message) => {
    const error = await build({}, exit).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ code: 'bad_request', message })
    expect(ran).toHaveLength(1)
    expect(log.at(-1)).toMatch(/^ {4}used by install: /)
  })

  test('that is aborted ends with the reason and runs no further step', async () => {
    const abort = new AbortController()
    const reason = new Error('canceled')
    const runStep = async (step: PlacedStep) => {
      ran.push(step)
      abort.abort(reason)
      return { exitCode: 1, signal: null }
    }
    await expect(build({ signal: abort.signal, runStep })).rejects.toBe(reason)
    expect(ran).toHaveLength(1)
  })

  test('leaves version control out of the release and touches nothing else', async () => {
    for (const name of ['.git', '.hg', 'node_modules', '.cache']) await mkdir(join(sourceDir, name))
    await build()
    expect((await readdir(sourceDir)).sort()).toEqual(['.cache', 'node_modules'])
  })
})

describe('the build of a site', () => {
  test('releases the first publish folder that is there', async () => {
    await mkdir(join(sourceDir, 'build/assets'), { recursive: true })
    await symlink('assets', join(sourceDir, 'build/latest'))
    expect(await build({ plan: site })).toBe(join(sourceDir, 'build'))
  })

  test('S25: leaves out links to nothing, which could come to lead somewhere, and says so', async () => {
    await mkdir(join(sourceDir, 'dist/deep'), { recursive: true })
    await symlink('deep', join(sourceDir, 'dist/link'))
    await symlink('link/later', join(sourceDir, 'dist/dangling'))
    await symlink('dangling', join(sourceDir, 'dist/to-dangling'))
    const artifactDir = await build({ plan: site })
    expect((await readdir(artifactDir)).sort()).toEqual(['deep', 'link'])
    expect(log.filter((line) => line.includes('is a link to nothing and is left out')).sort()).toEqual([
      '    "dangling" is a link to nothing and is left out',
      '    "to-dangling" is a link to nothing and is left out',
    ])
  })

  test('S31: names no more than some of very many links to nothing, and leaves out all', async () => {
    await mkdir(join(sourceDir, 'dist'))
    for (let link = 0; link < 300; link++) await symlink('nowhere', join(sourceDir, `dist/link-${link}`))
    expect(await readdir(await build({ plan: site }))).toEqual([])
    const told = log.filter((line) => line.includes('to nothing and'))
    expect(told).toHaveLength(51)
    expect(told.at(-1)).toBe('    250 more are links to nothing and are left out')
  })

  test('without any of them says what to set', async () => {
    await writeFile(join(sourceDir, 'dist'), 'a file')
    await expect(build({ plan: site })).rejects.toThrow('the build has made no folder "dist", "build"; set publishPath')
  })

  test.each([
    ['the folder itself', 'dist', '/etc', 'leads out of the source'],
    ['a file', 'dist/passwd', '/etc/passwd', '"passwd" is a link that leads out of the published folder'],
    ['a relative path', 'dist/secret', '../secret', '"secret" is a link that leads out'],
    ['a deep folder', 'dist/a/b', '../../..', '"a/b" is a link that leads out'],
    ['a missing file', 'dist/gone', '../../gone', '"gone" is a link that leads out'],
  ])('with %s linked to the outside is refused', async (_, path, target, message) => {
    await writeFile(join(sourceDir, 'secret'), '')
    if (path !== 'dist') await mkdir(join(sourceDir, 'dist/a'), { recursive: true })
    await symlink(target, join(sourceDir, path))
    await expect(build({ plan: site })).rejects.toThrow(message)
  })
})
