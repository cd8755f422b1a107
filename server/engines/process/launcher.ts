import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import { type SpawnedProcess, spawnProcess } from '../../process/spawn.ts'
import type { InstanceSpec, Limits, TaskSpec } from '../port.ts'
import type { Cgroups } from './cgroups.ts'
import { closedDirsAbove } from './closed-dirs.ts'
import { placeDisk } from './disk-mount.ts'
import { type Host, usableCgroups } from './host.ts'
import { KEEPER_SCRIPT, launchCommand, READY } from './launch.ts'
import { type BoundDir, planMounts, renderFstab } from './mount-plan.ts'
import { groupOf } from './processes.ts'
import type { Records, Workload } from './record.ts'

export interface LaunchContext {
  host: Host
  records: Records
  keeperPath: string
  /** Folders of the control plane, shown empty to every workload. */
  hiddenDirs: string[]
}

/** Puts the keeper's script into a folder of ours. Keepers of an earlier version go on reading the file they began with. */
export function installKeeper(directory: string): string {
  const path = join(directory, 'keeper.sh')
  writeFileSync(`${path}.new`, KEEPER_SCRIPT, { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return path
}

type Spec = Omit<InstanceSpec, 'instanceId' | 'deployId' | 'port'> | Omit<TaskSpec, 'taskId' | 'timeoutMs'>

/** The keeper of a workload, which is no child of ours but holds a pipe to us as long as it waits for the command. */
export interface Keeper {
  /** Resolves when the keeper has recorded the end of the command or is gone, or when we have let go of it. */
  ended: Promise<void>
  letGo(): void
}

/**
 * Starts a workload that has been recorded, and returns its keeper once the user's command is about to begin.
 *
 * @throws AppError `unavailable` with the machine's own words when it refuses.
 */
export async function launch(context: LaunchContext, workload: Workload, spec: Spec): Promise<Keeper> {
  const { host, records, keeperPath } = context
  const cgroups = usableCgroups(host)
  const namespaces = typeof host.namespaces === 'string' ? host.namespaces : 'none'
  const recordDir = records.dirOf(workload.id)
  if (cgroups !== undefined) createGroup(cgroups, workload, spec.limits)
  const { argv, env } = launchCommand({
    keeperPath,
    recordDir,
    cgroupFiles: cgroups?.entryFiles(groupOf(workload)) ?? [],
    namespaces,
    fstabPath: namespaces === 'none' ? undefined : writeFstab(context, recordDir, spec),
    user: host.isRoot ? spec.sandbox : undefined,
    cwd: spec.cwd,
    env: spec.env,
    command: spec.command,
  })
  const launcher = spawnProcess(argv, { cwd: '/', env, stdout: { appendTo: spec.outputPath }, stderr: 'pipe', detached: true })
  launcher.unref()
  const keeper = await readUntilReady(launcher)
  if (typeof keeper === 'string')
    throw new AppError('unavailable', `Could not start ${workload.id}: ${keeper.trim() || 'the launcher was killed'}`)
  return keeper
}

function createGroup(cgroups: Cgroups, workload: Workload, limits: Limits): void {
  try {
    cgroups.create(groupOf(workload), limits)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new AppError('unavailable', `Could not set the limits of ${workload.id}: ${reason}`, { cause })
  }
}

function writeFstab({ hiddenDirs }: LaunchContext, recordDir: string, spec: Spec): string {
  const { sandbox } = spec
  const needed: BoundDir[] = [
    ...[spec.cwd, sandbox.homeDir, ...(sandbox.writableBinds ?? [])].map((path) => ({ path, isReadOnly: false })),
    ...sandbox.readOnlyBinds.map((path) => ({ path, isReadOnly: true })),
  ].filter((dir) => existsSync(dir.path))
  const closedDirs = closedDirsAbove(
    needed.map((dir) => dir.path),
    sandbox,
  )
  const path = join(recordDir, 'fstab')
  const disk = sandbox.disk === undefined ? {} : { disk: placeDisk(sandbox.disk) }
  const view = { tmpDir: sandbox.tmpDir, needed, closedDirs, hiddenDirs: hiddenDirs.filter((dir) => existsSync(dir)), ...disk }
  writeFileSync(path, renderFstab(planMounts(view)), { mode: 0o600 })
  return path
}

/** The launcher's error output, when it ends before everything is ready; else the keeper that goes on holding it. */
async function readUntilReady(launcher: SpawnedProcess): Promise<Keeper | string> {
  const reader = launcher.stderr?.getReader()
  if (reader === undefined) return ''
  const decoder = new TextDecoder()
  let words = ''
  while (!words.endsWith(READY)) {
    const { done, value } = await reader.read()
    if (done) return words
    words += decoder.decode(value, { stream: true })
  }
  return { ended: reader.read().then(() => {}), letGo: () => void reader.cancel() }
}
