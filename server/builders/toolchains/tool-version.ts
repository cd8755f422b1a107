import { stat } from 'node:fs/promises'
import { runProcess } from '../../platform/process/spawn.ts'

const TIMEOUT_MS = 10_000
const MAX_KNOWN = 100

/** By program, its size and its time: another one in its place has another version. */
const known = new Map<string, string>()

export async function versionOf(program: string): Promise<string | undefined> {
  const { size, mtimeMs } = await stat(program)
  const key = `${program} ${size} ${mtimeMs}`
  const held = known.get(key)
  if (held !== undefined) return held
  const version = await askVersion(program)
  if (known.size >= MAX_KNOWN) known.clear()
  if (version !== undefined) known.set(key, version)
  return version
}

async function askVersion(program: string): Promise<string | undefined> {
  const { stdout } = await runProcess([program, '--version'], { timeoutMs: TIMEOUT_MS }).catch(() => ({ stdout: '' }))
  return /\d+\.\d+\.\d+/.exec(stdout)?.[0]
}
