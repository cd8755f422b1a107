import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

const CGROUP_ROOT = '/sys/fs/cgroup'
const LABEL_CHARS = 12

/** What is left on the machine of an installation: processes, control groups, mounts. Each as a line for people. */
export function leftoversOf(dataDir: string): string[] {
  return [...processesOf(dataDir).map((pid) => `process ${pid}: ${commandLine(pid)}`), ...groupsOf(dataDir), ...mountsOf(dataDir)]
}

/** Processes that belong to an installation: its data directory stands in their arguments, environment or working directory. */
export function processesOf(dataDir: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => [commandLine(pid), read(`/proc/${pid}/environ`), workingDir(pid)].some((text) => text.includes(dataDir)))
}

const NAMESPACE_KINDS = ['pid', 'mnt', 'ipc', 'net', 'user']

/** The namespaces in which any process of the machine is, each with its processes; a process is in five. */
export function namespacesInUse(): Map<string, number[]> {
  const found = new Map<string, number[]>()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    for (const name of namespacesOf(Number(pid))) found.set(name, [...(found.get(name) ?? []), Number(pid)])
  }
  return found
}

export function namespacesOf(pid: number): string[] {
  return NAMESPACE_KINDS.map((kind) => linkTarget(`/proc/${pid}/ns/${kind}`)).filter((name) => name !== '')
}

export const commandLine = (pid: number): string => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()

/** What the control groups of an installation are named by. */
export const labelOf = (dataDir: string): string => `cpd-${createHash('sha256').update(dataDir).digest('hex').slice(0, LABEL_CHARS)}`

/** The directories of the installation's control groups, in every hierarchy that is mounted. */
function groupsOf(dataDir: string): string[] {
  const label = labelOf(dataDir)
  const roots = [CGROUP_ROOT, ...list(CGROUP_ROOT).map((name) => join(CGROUP_ROOT, name))]
  return roots
    .map((root) => join(root, label))
    .filter(existsSync)
    .map((path) => `control group ${path}`)
}

const mountsOf = (dataDir: string): string[] =>
  read('/proc/self/mountinfo')
    .split('\n')
    .filter((line) => line.includes(dataDir))
    .map((line) => `mount ${line}`)

const workingDir = (pid: number): string => linkTarget(`/proc/${pid}/cwd`)

function linkTarget(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
