import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KEPT_VARIABLE, keepingInstall } from '../../server/builders/tree/keep-dependencies.ts'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { median } from './running-server.ts'

const ROUNDS = 5
const GOAL_MS = 1000
const INSTALL_MS = 300_000

const projects: Readonly<Record<string, Record<string, string>>> = {
  express: { express: '5.1.0' },
  next: { next: '15.5.4', react: '19.2.0', 'react-dom': '19.2.0' },
}

/** The install step of a build with an unchanged lock file, beside `npm ci` of the same with all of it in npm's cache. */
export async function run(): Promise<void> {
  const box = await mkdtemp(join(tmpdir(), 'install-bench-'))
  try {
    for (const [name, dependencies] of Object.entries(projects)) await measure(join(box, name), name, dependencies)
  } finally {
    await rm(box, { recursive: true, force: true })
  }
}

async function measure(box: string, name: string, dependencies: Record<string, string>): Promise<void> {
  const source = join(box, 'source')
  await mkdir(source, { recursive: true })
  await writeFile(join(source, 'package.json'), JSON.stringify({ name, private: true, dependencies }))
  await timed(source, box, 'npm install --package-lock-only --no-audit --no-fund')
  const kept = keepingInstall({ command: 'npm ci', inputs: ['package-lock.json', 'package.json'] })
  await inCopy(source, box, kept)
  const [ours, peers]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await inCopy(source, box, kept))
    peers.push(await inCopy(source, box, 'npm ci --prefer-offline --no-audit --no-fund'))
  }
  const [own, peer] = [median(ours), median(peers)]
  console.log(
    `${name.padEnd(8)} install with an unchanged lock file ${own.toFixed(0)} ms (goal ${GOAL_MS}: ${own < GOAL_MS ? 'met' : 'MISSED'}), ` +
      `npm ci ${peer.toFixed(0)} ms, ratio ${(own / peer).toFixed(2)}`,
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
