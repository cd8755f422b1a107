import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, messageOf } from '../../../shared/error.ts'
import { replaceFileSync } from '../../platform/files/replace-file.ts'
import { type SpawnedProcess, spawnProcess } from '../../platform/process/spawn.ts'
import type { Limits } from '../port/workload.ts'
import { writeAccounts } from './accounts.ts'
import type { Cgroups } from './cgroups/cgroups.ts'
import { closedDirsAbove } from './closed-dirs.ts'
import { placeDisk } from './disk-mount.ts'
import { type Host, namespacesIn, usableCgroups } from './host.ts'
import type { NamespaceHandles } from './kernel/namespace-handles.ts'
import type { KeyedMutex } from './keyed-mutex.ts'
import { type Launch, type LaunchPrograms, launchCommand, launchSteps, MONITOR_SCRIPT, READY } from './launch.ts'
import type { LayerMount } from './launch-steps.ts'
import { type BoundDir, planMounts, renderFstab } from './mount-plan.ts'
import { type Attachment, HOST_ATTACHMENT, type Networks } from './network/networks.ts'
import { groupOf } from './records/processes.ts'
import type { Records, Workload } from './records/record.ts'
import { openSpool } from './records/spool.ts'
import type { ProcessSpec } from './spec.ts'
import { stepProgram } from './step-program/elf.ts'
import { OWN_ARCHITECTURE } from './step-program/numbers.ts'
import { renderSteps } from './step-program/steps.ts'
import type { WritableLayers } from './writable-layer.ts'

export interface LaunchContext {
  host: Host
  records: Records
  programs: LaunchPrograms
  networks: Networks
  layers: WritableLayers | { reason: string }
  mutex: KeyedMutex
  hiddenDirs: string[]
  dataDir: string | undefined
}

export function installPrograms(directory: string): LaunchPrograms {
  const programs = { monitor: join(directory, 'monitor.sh'), steps: join(directory, 'steps') }
  install(programs.monitor, MONITOR_SCRIPT, 0o600)
  install(programs.steps, stepProgram(OWN_ARCHITECTURE), 0o700)
  return programs
}

function install(path: string, content: string | Uint8Array, mode: number): void {
  replaceFileSync(path, content, { mode, isDurable: false })
}

export interface Attached {
  descriptor: number
  joined: NamespaceHandles | undefined
}

type Common = Omit<ProcessSpec, 'instanceId' | 'deployId' | 'port' | 'outputPath'>

export type LaunchSpec = Common & ({ outputPath: string; attached?: never } | { attached: Attached })

export interface Monitor {
  ended: Promise<void>
  letGo(): void
}

/** Returns the monitor once the user's command is about to begin. @throws AppError `unavailable` in the machine's own words. */
export async function launch(context: LaunchContext, workload: Workload, spec: LaunchSpec): Promise<Monitor> {
  if (spec.attached?.joined !== undefined) return launchIn(context, { workload, spec, attachment: HOST_ATTACHMENT })
  const { networkId, sharesHostNetwork } = spec.sandbox
  const recordDir = context.records.dirOf(workload.id)
  const attachment = await context.networks.enter({
    id: workload.id,
    ownerId: workload.ownerId,
    recordDir,
    networkId,
    isHost: sharesHostNetwork === true,
  })
  try {
    // Two mounts of one image at the same moment would each take a loop device, and write over one another; a later one shares the first's.
    const image = spec.sandbox.disk?.isImage ? spec.sandbox.disk.source : undefined
    const launched = context.mutex.run(image, () => launchIn(context, { workload, spec, attachment }))
    const [monitor] = await Promise.all([launched, attachment.joined])
    return monitor
  } finally {
    attachment.left()
  }
}

async function launchIn(
  context: LaunchContext,
  { workload, spec, attachment }: { workload: Workload; spec: LaunchSpec; attachment: Attachment },
): Promise<Monitor> {
  const { host, records, programs } = context
  const cgroups = usableCgroups(host)
  const namespaces = namespacesIn(host)
  const recordDir = records.dirOf(workload.id)
  const joinedNamespaces = spec.attached?.joined?.options
  const priority = workload.priority ?? 'live'
  if (cgroups !== undefined) createGroup(cgroups, workload, spec.limits)
  // Whoever waits outside for the command must not be stopped and killed with its group: it is born inside only when it is its init.
  const birthplace = namespaces === 'none' || joinedNamespaces !== undefined ? undefined : cgroups?.birthplace(groupOf(workload))
  const layer = joinedNamespaces === undefined ? await prepareLayer(context, recordDir, spec) : undefined
  const described: Launch = {
    programs,
    recordDir,
    cgroupWrites: cgroups === undefined ? [] : cgroupWrites(cgroups, workload, { spec, isBornInside: birthplace !== undefined }),
    namespaces,
    networkPath: attachment.path,
    fstabPath:
      namespaces === 'none' || joinedNamespaces !== undefined
        ? undefined
        : writeFstab(context, recordDir, { spec, attachment, hasLayer: layer !== undefined }),
    layer,
    user: host.isRoot ? spec.sandbox : undefined,
    filter: host.filter !== 'calls' ? undefined : { allowsUserNamespaces: spec.sandbox.allowsUserNamespaces === true },
    hasKeyrings: host.hasKeyrings,
    // A user of its own is what tells workloads apart: who has none has nobody to be hidden from.
    cgroupView: host.isRoot ? cgroups?.viewOf(groupOf(workload)) : undefined,
    joinedNamespaces,
    hasTerminal: spec.attached !== undefined,
    priority,
    cwd: spec.cwd,
    env: spec.env,
    command: spec.command,
  }
  for (const [name, steps] of Object.entries(launchSteps(described)))
    writeFileSync(join(recordDir, name), renderSteps(steps, OWN_ARCHITECTURE), { mode: 0o600 })
  const streams = openStreams(records, workload, spec)
  const monitor = await readUntilReady(spawnLauncher({ ...launchCommand(described), birthplace, streams }))
  if (typeof monitor === 'string')
    throw new AppError('unavailable', `Could not start ${workload.id}: ${monitor.trim() || 'the launcher was killed'}`)
  return monitor
}

async function prepareLayer({ layers }: LaunchContext, recordDir: string, { sandbox }: LaunchSpec): Promise<LayerMount | undefined> {
  if ('reason' in layers || sandbox.layerOver === undefined) return undefined
  return await layers.prepare(recordDir, sandbox.layerOver, sandbox)
}

function cgroupWrites(cgroups: Cgroups, workload: Workload, { spec, isBornInside }: { spec: LaunchSpec; isBornInside: boolean }) {
  const group = groupOf(workload)
  return [...(isBornInside ? [] : cgroups.entryWrites(group)), ...cgroups.lastWrites(group, spec.limits)]
}

interface Streams {
  stdin?: number
  stdout: number
  close(): void
}

function openStreams(records: Records, { id }: Workload, spec: LaunchSpec): Streams {
  if (spec.attached !== undefined) return { stdin: spec.attached.descriptor, stdout: spec.attached.descriptor, close: () => {} }
  const { writeEnd, close } = openSpool(records, id, spec.outputPath)
  return { stdout: writeEnd, close }
}

interface Launcher {
  argv: string[]
  env: Record<string, string>
  birthplace: string | undefined
  streams: Streams
}

function spawnLauncher({ argv, env, birthplace: cgroup, streams: { close, ...streams } }: Launcher): SpawnedProcess {
  try {
    const launcher = spawnProcess(argv, {
      cwd: '/',
      env,
      ...streams,
      stderr: 'pipe',
      detached: true,
      ...(cgroup !== undefined && { cgroup }),
    })
    launcher.unref()
    return launcher
  } finally {
    close()
  }
}

function createGroup(cgroups: Cgroups, workload: Workload, limits: Limits): void {
  try {
    cgroups.create(groupOf(workload), limits, workload.priority ?? 'live')
  } catch (cause) {
    const reason = messageOf(cause)
    throw new AppError('unavailable', `Could not set the limits of ${workload.id}: ${reason}`, { cause })
  }
}

const OPEN_DIRS = ['/run/lock', '/dev/mqueue']
/** Loop devices tell the files behind them, other services' disks, and how much is written to them; links tell who talks how much. */
const OTHERS_METADATA = [
  ...['/sys/block', '/sys/class/block', '/sys/dev/block', '/sys/devices/virtual/block'],
  ...['/sys/class/bdi', '/sys/devices/virtual/bdi', '/sys/fs/ext4', '/sys/class/net', '/sys/devices/virtual/net'],
]

function writeFstab(
  { host, hiddenDirs, dataDir }: LaunchContext,
  recordDir: string,
  { spec, attachment, hasLayer }: { spec: LaunchSpec; attachment: Attachment; hasLayer: boolean },
): string {
  const { sandbox } = spec
  const readOnlyBinds = hasLayer ? sandbox.readOnlyBinds.filter((path) => path !== sandbox.layerOver) : sandbox.readOnlyBinds
  const needed: BoundDir[] = [
    { path: spec.cwd, isReadOnly: readOnlyBinds.includes(spec.cwd) },
    ...[sandbox.homeDir, ...(sandbox.writableBinds ?? [])].map((path) => ({ path, isReadOnly: false })),
    ...readOnlyBinds.map((path) => ({ path, isReadOnly: true })),
    ...(hasLayer && sandbox.layerOver !== undefined ? [{ path: sandbox.layerOver, isReadOnly: false }] : []),
  ].filter((dir) => existsSync(dir.path))
  const paths = needed.map((dir) => dir.path)
  const coveredDirs = (sandbox.coveredDirs ?? []).filter((dir) => existsSync(dir))
  const closedDirs = host.isRoot ? [...closedDirsAbove(paths, sandbox), ...coveredDirs] : dataDir === undefined ? coveredDirs : [dataDir]
  const path = join(recordDir, 'fstab')
  const disk = sandbox.disk === undefined ? {} : { disk: placeDisk(sandbox.disk, host.isRoot ? sandbox : undefined) }
  const replacedFiles = [...attachment.files, ...(host.isRoot ? writeAccounts(recordDir, sandbox) : [])]
  const openDirs = OPEN_DIRS.filter((dir) => existsSync(dir))
  const terminals = host.hasOwnTerminals ? { hasOwnTerminals: true } : {}
  const shown = {
    ...terminals,
    emptyDirs: OTHERS_METADATA.filter((dir) => existsSync(dir)),
    openDirs,
    hiddenDirs: hiddenDirs.filter((dir) => existsSync(dir)),
    showsAllProcesses: !host.isRoot,
    replacedFiles,
  }
  writeFileSync(path, renderFstab(planMounts({ tmpDir: sandbox.tmpDir, needed, closedDirs, ...shown, ...disk })), { mode: 0o600 })
  return path
}

async function readUntilReady(launcher: SpawnedProcess): Promise<Monitor | string> {
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
