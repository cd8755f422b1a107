import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../../../server/boot/settings/config.ts'
import { detectBuild } from '../../../../server/builders/detect/detect.ts'
import { type BuildPlan, stackOf } from '../../../../server/builders/detect/plan.ts'
import { openSourceView } from '../../../../server/builders/detect/source-view.ts'
import type { BuildSettings, StepExit } from '../../../../server/builders/port.ts'
import type { Toolchains } from '../../../../server/builders/toolchains/tool.ts'
import { buildRelease, type PlacedStep } from '../../../../server/builders/tree/build.ts'
import { spawnProcess } from '../../../../server/platform/process/spawn.ts'
import { searchPathIn } from '../../../../server/platform/stack.ts'

const fixtures = join(import.meta.dirname, '../../../fixtures/apps')

/** What a closed network needs to reach its registries, as the server would pass it to builds. */
const { buildEnv } = readConfig(
  { ...Bun.env, ...Object.fromEntries(Object.keys(Bun.env).map((name) => [name, name.startsWith('CP_') ? undefined : Bun.env[name]])) },
  {},
  true,
)

export interface Workbench {
  box: string
  build(fixture: string, settings?: Partial<BuildSettings>): Promise<Built>
  close(): Promise<void>
}

export interface Built {
  plan: BuildPlan
  /** Where the release was moved to; where it was built is gone. */
  releaseDir: string
  log: string[]
  output: string
  buildMs: number
}

/** A folder in which fixtures are built without a sandbox, and then moved to where they run. */
export async function openWorkbench(toolchains: Toolchains): Promise<Workbench> {
  const box = await mkdtemp(join(tmpdir(), 'builds-'))
  const home = join(box, 'home')
  for (const name of ['home', 'builds', 'releases', 'cache']) await mkdir(join(box, name))
  let count = 0
  return {
    box,
    close: () => rm(box, { recursive: true, force: true }),
    build: async (fixture, settings = {}) => {
      const name = `${fixture}-${++count}`
      const sourceDir = join(box, 'builds', name)
      await cp(join(fixtures, fixture), sourceDir, { recursive: true })
      const plan = detectBuild({ files: openSourceView(sourceDir), settings: { type: 'web_service', ...settings }, toolchains })
      const log: string[] = []
      const outputs: string[] = []
      const startedAt = performance.now()
      const built = await buildRelease({
        buildDir: join(box, 'builds'),
        sourceDir,
        owner: undefined,
        cacheDir: join(box, 'cache'),
        plan,
        env: { ...buildEnv, HOME: home },
        runStep: (step) => runUnsandboxed(step, outputs),
        log: (line) => log.push(line),
        signal: new AbortController().signal,
      }).catch((error: Error) => {
        throw new Error(`${error.message}\n${log.join('\n')}\n${outputs.join('').slice(-4000)}`)
      })
      const buildMs = performance.now() - startedAt
      const releaseDir = join(box, 'releases', name)
      await rename(built, releaseDir)
      await rm(sourceDir, { recursive: true, force: true })
      return { plan, releaseDir, log, output: outputs.join(''), buildMs }
    },
  }
}

async function runUnsandboxed(step: PlacedStep, outputs: string[]): Promise<StepExit> {
  const child = spawnProcess(['/bin/sh', '-c', step.command], { cwd: step.cwd, env: step.env, stdout: 'pipe', stderr: 'pipe' })
  const read = [child.stdout, child.stderr].map((stream) => (stream === undefined ? '' : new Response(stream).text()))
  outputs.push(...(await Promise.all(read)))
  return child.exited
}

/** Starts a built release and returns its first answer to `GET /`. */
export async function firstAnswer({ plan, releaseDir }: Built): Promise<string> {
  const port = await freePort()
  const child = spawnProcess(['/bin/sh', '-c', `exec ${plan.startCommand}`], {
    cwd: releaseDir,
    env: { ...plan.runtimeEnv, PATH: searchPathIn(stackOf(plan), releaseDir), HOME: '/nonexistent', PORT: String(port) },
    detached: true,
  })
  let hasEnded = false
  child.exited.then(() => {
    hasEnded = true
  })
  try {
    while (!hasEnded) {
      const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)
      if (response?.status === 200) return await response.text()
      await Bun.sleep(20)
    }
    throw new Error(`${plan.startCommand} ended before it answered`)
  } finally {
    if (!hasEnded) process.kill(-child.pid, 'SIGKILL')
    await child.exited
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}
