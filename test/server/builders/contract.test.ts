import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createFakeBuilder } from '../../../server/builders/fake/builder.ts'
import type { Builder, BuildRequest, RunnableStep, StepExit } from '../../../server/builders/port.ts'
import { openTreeBuilder } from '../../../server/builders/tree/builder.ts'
import { pathsOf, servicePathsOf } from '../../../server/platform/paths.ts'
import { createFakeArtifacts } from '../../../server/runtime/artifacts/fake.ts'
import type { Artifacts } from '../../../server/runtime/artifacts/port.ts'
import { createReleaseFolders } from '../../../server/runtime/artifacts/release-folders.ts'
import { AppError } from '../../../shared/error.ts'

interface World {
  builder: Builder
  artifacts: Artifacts
  /** What is left of builds, finished or not. */
  leftovers(): string[]
  dispose(): void
}

async function treeWorld(): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'builder-'))
  const paths = pathsOf(dir)
  mkdirSync(paths.services)
  const artifacts = createReleaseFolders({ paths, config: { CP_DISK_RESERVE_MB: 0 } })
  const config = { CP_BUILD_PATH: [], CP_TOOLCHAINS_MAX_MB: 4096, buildEnv: {} }
  return {
    artifacts,
    builder: await openTreeBuilder({
      paths,
      config,
      hasOwnNetworks: true,
      fetchUid: () => 65_534,
      foldersInUse: () => [],
      whileThereIsRoom: (act) => act(new AbortController().signal),
      keep: artifacts.keep,
    }),
    leftovers: () => readdirSync(servicePathsOf(paths, 'srv-a').builds),
    dispose: () => rmSync(dir, { recursive: true, force: true }),
  }
}

async function fakeWorld(): Promise<World> {
  const artifacts = createFakeArtifacts()
  return { artifacts, builder: createFakeBuilder(artifacts), leftovers: () => [], dispose: () => {} }
}

let world: World
let log: string[]
let steps: RunnableStep[]
afterEach(() => world.dispose())

async function open(make: () => Promise<World>): Promise<void> {
  world = await make()
  ;[log, steps] = [[], []]
}

function build(content: string, changes: Partial<BuildRequest> = {}, exit: StepExit = { exitCode: 0, signal: null }) {
  return world.builder.build({
    owner: { id: 'srv-a', number: 61_700 },
    buildId: 'dep-a',
    source: {
      sha256: content,
      unpack: async (into) => {
        mkdirSync(into)
        for (const name of ['app', 'index.html']) writeFileSync(join(into, name), content)
      },
    },
    rootDir: '',
    settings: { type: 'web_service', buildCommand: 'make', startCommand: './app' },
    env: { GREETING: 'hello' },
    log: (line) => log.push(line),
    runStep: async (step) => {
      steps.push(step)
      return exit
    },
    signal: new AbortController().signal,
    ...changes,
  })
}

describe.each(Object.entries({ tree: treeWorld, fake: fakeWorld }))('the builder %s', (_, make) => {
  test('runs the build command with the variables, tells so, and keeps what came of it', async () => {
    await open(make)
    const { artifact, launch } = await build('one')
    expect(steps).toMatchObject([{ name: 'build', command: 'make', env: { GREETING: 'hello' }, network: 'none', stack: { kind: 'host' } }])
    expect(steps.every(({ dir }) => !dir.startsWith('/'))).toBe(true)
    expect(log.filter((line) => line.startsWith('==> ')).slice(-2)).toEqual(['==> build: make', '==> Build succeeded'])
    expect(log.at(-2)).toMatch(/^ {4}used by build: \d+\.\d s$/)
    expect(launch).toMatchObject({ runtime: 'shell', startCommand: './app', stack: { kind: 'host' } })
    expect(world.artifacts.has('srv-a', artifact)).toBe(true)
    expect(world.leftovers()).toEqual([])
  })

  test('gives one source one artifact, however often it is built, and another source another', async () => {
    await open(make)
    const { artifact } = await build('one')
    expect((await build('one')).artifact).toBe(artifact)
    expect((await build('one', { buildId: 'dep-b', clearsCache: true })).artifact).toBe(artifact)
    expect((await build('two')).artifact).not.toBe(artifact)
  })

  const failures: [string, StepExit][] = [
    ['make exited with 2; see the build log', { exitCode: 2, signal: null }],
    ['make was ended by SIGKILL; see the build log', { exitCode: null, signal: 'SIGKILL' }],
    ['make took longer than a build may take', { exitCode: null, signal: 'SIGKILL', timedOut: true }],
    ['make ran out of memory and was killed; choose a larger build plan', { exitCode: 137, signal: null, oomKilled: true }],
  ]
  test.each(failures)('says that %s', async (words, exit) => {
    await open(make)
    await expect(build('one', {}, exit)).rejects.toEqual(new AppError('bad_request', `Build failed: ${words}`))
    expect(world.leftovers()).toEqual([])
  })

  test('gives up with the reason of the signal, and begins anew when asked again', async () => {
    await open(make)
    const abort = new AbortController()
    const runStep = async () => {
      abort.abort(new Error('enough'))
      return { exitCode: 0, signal: null }
    }
    await expect(build('one', { signal: abort.signal, runStep })).rejects.toThrow('enough')
    expect(world.leftovers()).toEqual([])
    expect(world.artifacts.has('srv-a', (await build('one')).artifact)).toBe(true)
  })

  test('publishes a site without a start command', async () => {
    await open(make)
    const { launch } = await build('one', { settings: { type: 'static_site' } })
    expect(launch).toMatchObject({ runtime: 'static', startCommand: '' })
    expect(steps).toEqual([])
  })
})
