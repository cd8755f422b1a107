import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createProcessEngine } from '../../engines/process/engine.ts'
import { isAlive, type ProcessIdentity, readStat } from '../../engines/process/kernel/proc.ts'
import type { ProcessEngine } from '../../engines/process/spec.ts'

/** Folder and label of a run name its process, so that the next run finds what a killed one has left. */
export interface DoctorPlace {
  dir: string
  controlDir: string
  engine: ProcessEngine
  close(): Promise<void>
}

/** The CPU share of an instance here, small so that what counts against it shows sooner. */
export const CONNECTIONS = 256

const PREFIX = 'cpd-doctor-'
const PASS_THROUGH = 0o711

export async function openPlace(hiddenDirs: readonly string[]): Promise<DoctorPlace> {
  const self = readStat(process.pid)
  const name = `${PREFIX}${process.pid}-${self?.startTicks ?? 0}`
  const dir = join(tmpdir(), name)
  mkdirSync(dir, { mode: PASS_THROUGH })
  chmodSync(dir, PASS_THROUGH)
  const controlDir = join(dir, 'control')
  const engine = await openEngine(dir, [controlDir, ...hiddenDirs.filter(existsSync)])
  return { dir, controlDir, engine, close: () => removeAll(dir, engine) }
}

export async function removeLeftovers(): Promise<number> {
  const abandoned = readdirSync(tmpdir()).filter((name) => {
    const owner = ownerOf(name)
    return owner !== undefined && !isAlive(owner)
  })
  for (const name of abandoned) {
    const dir = join(tmpdir(), name)
    await removeAll(dir, await openEngine(dir, []))
  }
  return abandoned.length
}

function ownerOf(name: string): ProcessIdentity | undefined {
  const [, pid, startTicks] = /^cpd-doctor-(\d+)-(\d+)$/.exec(name) ?? []
  return pid === undefined ? undefined : { pid: Number(pid), startTicks: Number(startTicks) }
}

function openEngine(dir: string, hiddenDirs: string[]): Promise<ProcessEngine> {
  const stateDir = join(dir, 'state')
  mkdirSync(stateDir, { recursive: true, mode: 0o700 })
  const label = dir.slice(dir.lastIndexOf(PREFIX))
  return createProcessEngine({ stateDir, label, hiddenDirs, network: { connectionsPerInstance: CONNECTIONS } })
}

async function removeAll(dir: string, engine: ProcessEngine): Promise<void> {
  const services = new Set((await engine.list()).map(({ ownerId }) => ownerId))
  await Promise.all([...services].map((id) => engine.removeOwner(id)))
  await engine.close()
  rmSync(dir, { recursive: true, force: true })
}
