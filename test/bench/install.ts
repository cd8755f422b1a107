import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { KEPT_VARIABLE, keepingInstall } from '../../server/builders/tree/keep-dependencies.ts'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { median } from './running-server.ts'

const ROUNDS = 5
const GOAL_MS = 1000
const INSTALL_MS = 300_000

interface Project {
  name: string
  files: Record<string, string>
  /** Writes the lock file. */
  prepare: string
  install: string
  inputs: string[]
  /** What the same is done by elsewhere, with all of it in its cache. */
  peer: string
}

const json = JSON.stringify
const LOCK = 'npm install --package-lock-only --no-audit --no-fund'
const CI = 'npm ci --prefer-offline --no-audit --no-fund'
const INPUTS = ['package-lock.json', 'package.json']
const next = { next: '15.5.4', react: '19.2.0', 'react-dom': '19.2.0' }

const ofNode = (name: string, dependencies: Record<string, string>): Project => {
  const files = { 'package.json': json({ name, private: true, dependencies }) }
  return { name, files, prepare: LOCK, install: 'npm ci', inputs: INPUTS, peer: CI }
}

const projects: readonly Project[] = [
  ofNode('express', { express: '5.1.0' }),
  ofNode('next', next),
  {
    name: 'workspace',
    files: {
      'package.json': json({ private: true, workspaces: ['apps/*'] }),
      'apps/web/package.json': json({ name: 'web', dependencies: next }),
      'apps/api/package.json': json({ name: 'api', dependencies: { express: '5.1.0' } }),
    },
    prepare: LOCK,
    install: 'npm ci --workspace apps/web --include-workspace-root',
    inputs: [...INPUTS, 'apps/web/package.json'],
    peer: CI,
  },
]

/** The install step of a build with an unchanged lock file, beside the same by what installs it, with all of it in its cache. */
export async function run(): Promise<void> {
  const box = await mkdtemp(join(tmpdir(), 'install-bench-'))
  try {
    for (const project of projects) await measure(join(box, project.name), project)
  } finally {
    await rm(box, { recursive: true, force: true })
  }
}

async function measure(box: string, { name, files, prepare, install, inputs, peer }: Project): Promise<void> {
  const source = join(box, 'source')
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(source, path)), { recursive: true })
    await writeFile(join(source, path), text)
  }
  await timed(source, box, prepare)
  const kept = keepingInstall({ command: install, inputs })
  await inCopy(source, box, kept)
  const [ours, peers]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await inCopy(source, box, kept))
    peers.push(await inCopy(source, box, peer))
  }
  const [own, other] = [median(ours), median(peers)]
  console.log(
    `${name.padEnd(9)} install with an unchanged lock file ${own.toFixed(0)} ms (goal ${GOAL_MS}: ${own < GOAL_MS ? 'met' : 'MISSED'}), ` +
      `npm ci ${other.toFixed(0)} ms, ratio ${(own / other).toFixed(2)}`,
  )
}

/** Each build has a folder of its own. */
async function inCopy(source: string, box: string, command: string): Promise<number> {
  const dir = join(box, 'build')
  await rm(dir, { recursive: true, force: true })
  await cp(source, dir, { recursive: true })
  return timed(dir, box, command)
}

async function timed(cwd: string, box: string, command: string): Promise<number> {
  const env = { ...process.env, npm_config_cache: join(box, 'npm'), [KEPT_VARIABLE]: join(box, 'kept') }
  const begun = performance.now()
  const { exitCode, stdout, stderr } = await runProcess(['/bin/sh', '-c', command], { cwd, env, timeoutMs: INSTALL_MS })
  if (exitCode !== 0) throw new Error(`${command.slice(0, 40)} ended with ${exitCode}: ${(stdout + stderr).slice(-2000)}`)
  return performance.now() - begun
}
