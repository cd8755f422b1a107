import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { detectBuild } from '../../server/builders/detect/detect.ts'
import type { DetectInput } from '../../server/builders/detect/plan.ts'
import { openSourceView } from '../../server/builders/detect/source-view.ts'
import { createOutages } from '../../server/builders/toolchains/registry/outages.ts'
import { openToolchainStore, type ToolchainStore } from '../../server/builders/toolchains/store/store.ts'
import type { Toolchains } from '../../server/builders/toolchains/tool.ts'
import { DEFAULT_TOOLCHAIN_PATH, findToolchains, ownHomes } from '../../server/builders/toolchains/toolchains.ts'
import { uvPin } from '../../server/builders/toolchains/uv/pin.ts'
import { uvSettings } from '../../server/builders/toolchains/uv/uv-settings.ts'
import { equip } from '../../server/builders/tree/equip.ts'
import { placeKept } from '../support/kept-toolchain.ts'
import { median } from './running-server.ts'

const ROUNDS = 3
const RESOLVES = 21
const RESOLVE_GOAL_MS = 20
const UV_GOAL = 3

const search = { searchPath: DEFAULT_TOOLCHAIN_PATH, homes: ownHomes() }
const env = Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => (/^PIP_/.test(name) && value ? [[name, value]] : [])))

/** What projects of some size ask for, with parts in C as wheels. */
const projects: Readonly<Record<string, string>> = {
  django: 'django==5.1.4\ngunicorn==23.0.0\npsycopg[binary]==3.2.3\nwhitenoise==6.8.2\n',
  fastapi: 'fastapi[standard]==0.115.6\nsqlalchemy==2.0.36\nalembic==1.14.0\nhttpx==0.28.1\n',
  streamlit: 'streamlit==1.41.1\n',
}

/** Toolchains that are stored, looked up for a build, and the installs of uv against those of pip: cold caches, compiled to bytecode by both. */
export async function run(): Promise<void> {
  const box = mkdtempSync(join(tmpdir(), 'cpd-bench-toolchains-'))
  try {
    const store = await openToolchainStore(join(box, 'toolchains'), { maxBytes: 2 ** 34, foldersInUse: () => [] })
    await placeKept(store.dir, `uv-${uvPin.version}`)
    await measureResolving(box, store)
    for (const [name, requirements] of Object.entries(projects)) await measureInstall(box, store, { name, requirements })
  } finally {
    rmSync(box, { recursive: true, force: true })
  }
}

async function measureResolving(box: string, store: ToolchainStore): Promise<void> {
  const stacks = {
    'Node.js': ['.nvmrc', '1.2.3', 'index.js'],
    Go: ['go.mod', 'toolchain go1.99.0\n', 'main.go'],
    Python: ['.python-version', '3', 'main.py'],
  }
  for (const entry of ['node-1.2.3', 'npm-6.14.18', 'go-1.99.0']) mkdirSync(join(store.dir, entry, 'bin'), { recursive: true })
  for (const [title, [file = '', text = '', main = '']] of Object.entries(stacks)) {
    const input = await inputOf(join(box, title), { [file]: text, [main]: '' })
    await equipped(input, store)
    const times: number[] = []
    for (let round = 0; round < RESOLVES; round++) times.push(await timed(() => equipped(input, store)))
    const ms = median(times)
    console.log(
      `${title.padEnd(10)} stored, resolved in ${ms.toFixed(2)} ms (goal ${RESOLVE_GOAL_MS}: ${ms < RESOLVE_GOAL_MS ? 'met' : 'MISSED'})`,
    )
  }
}

async function inputOf(dir: string, files: Record<string, string>): Promise<DetectInput> {
  mkdirSync(dir, { recursive: true })
  for (const [path, text] of Object.entries(files)) writeFileSync(join(dir, path), text)
  return { files: openSourceView(dir), settings: { type: 'web_service' }, toolchains: await findToolchains(search) }
}

const outages = createOutages()

const equipped = (input: DetectInput, store: ToolchainStore): Promise<Toolchains> =>
  equip(input, {
    store,
    config: { buildEnv: env },
    search,
    fetchUid: () => 65_534,
    outages,
    log: console.log,
    signal: new AbortController().signal,
  })

interface Project {
  name: string
  requirements: string
}

async function measureInstall(box: string, store: ToolchainStore, { name, requirements }: Project): Promise<void> {
  const input = await inputOf(join(box, name), { 'requirements.txt': requirements, 'main.py': '' })
  const byUv = await equipped(input, store)
  const { uv: _, ...byPip } = byUv
  const times: Record<'uv' | 'pip', number[]> = { uv: [], pip: [] }
  for (let round = 0; round < ROUNDS; round++) {
    times.uv.push(await timed(() => install(join(box, name), input, byUv)))
    times.pip.push(await timed(() => install(join(box, name), input, byPip)))
  }
  const [uv, pip] = [median(times.uv), median(times.pip)]
  const ratio = pip / uv
  console.log(
    `${name.padEnd(10)} installed by uv in ${(uv / 1000).toFixed(2)} s, by pip in ${(pip / 1000).toFixed(2)} s, ratio ${ratio.toFixed(1)} (goal ${UV_GOAL}: ${ratio >= UV_GOAL ? 'met' : 'MISSED'})`,
  )
}

async function install(dir: string, input: DetectInput, toolchains: Toolchains): Promise<void> {
  const plan = detectBuild({ ...input, toolchains })
  const cache = mkdtempSync(join(tmpdir(), 'cpd-bench-cache-'))
  const caches = Object.fromEntries(Object.entries(plan.cacheEnv).map(([variable, folder]) => [variable, join(cache, folder)]))
  const PATH = [join(dir, '.venv/bin'), ...plan.pathEntries.slice(1), '/usr/bin', '/bin'].join(':')
  try {
    for (const { command } of plan.steps) {
      const child = Bun.spawn(['/bin/sh', '-c', command], {
        cwd: dir,
        env: { ...uvSettings(env), ...env, ...plan.buildEnv, ...caches, HOME: cache, PATH },
        stderr: 'pipe',
        stdout: 'ignore',
      })
      const [said, exitCode] = await Promise.all([child.stderr.text(), child.exited])
      if (exitCode !== 0) throw new Error(`${command}: ${said}`)
    }
  } finally {
    rmSync(cache, { recursive: true, force: true })
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  // What was written before would be paid for by whoever comes next.
  Bun.spawnSync(['sync'])
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

if (import.meta.main) await run()
