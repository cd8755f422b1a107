import { readdirSync, readFileSync } from 'node:fs'
import { lingerer } from './apps.ts'
import type { TryResult } from './red-team/attempt.ts'
import type { World } from './sandbox-world.ts'

const START_TIMEOUT_MS = 5000
const POLL_MS = 20
const GRACE_MS = 300

export async function tryToLinger(world: World): Promise<TryResult> {
  // A number of seconds that nobody else sleeps.
  const mark = `8${process.pid}${Math.floor(Math.random() * 1e6)}.25`
  const app = await world.start(lingerer(mark))
  for (const end = performance.now() + START_TIMEOUT_MS; performance.now() < end && !(await app.output()).includes('lingering'); )
    await Bun.sleep(POLL_MS)
  const before = processesWith(mark).length
  await world.engine.stop(app.instanceId, { graceMs: GRACE_MS })
  const left = processesWith(mark)
  await app.remove()
  for (const pid of left) killIfThere(pid)
  return {
    id: 'linger',
    title: 'stays behind after its stop',
    guarantee: 'no-escape',
    attempted: before,
    succeeded: left.map((pid) => `process ${pid} still runs`),
  }
}

const processesWith = (mark: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && commandLine(name).includes(`\0${mark}\0`))
    .map(Number)

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}
