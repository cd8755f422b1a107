import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { commandLine, namespacesOf, processesOf } from './leftovers.ts'

/** Names under which an installation keeps things on the machine. */
export interface Marks {
  dir: string
  label: string
  stateDir: string
}

const CGROUP_ROOT = '/sys/fs/cgroup'
const NETWORK_HASH_CHARS = 8
const TOOLS_ENV = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }

/**
 * All there is of an installation on the machine, each as a line: processes and their namespaces, open descriptors of this process, control
 * groups of every hierarchy, mounts, links, routes, rules, loop devices, System V objects, files and users. What is done and undone leaves it as it was.
 */
export async function machineState({ dir, label, stateDir }: Marks): Promise<Set<string>> {
  const hash = createHash('sha256').update(join(stateDir, 'network')).digest('hex').slice(0, NETWORK_HASH_CHARS)
  const isOurs = (line: string) => line.includes(dir) || line.includes(label) || line.includes(`cpd${hash}`) || line.includes(`cpd_${hash}`)
  const pids = processesOf(dir)
  const told = await Promise.all([
    linesOf('link', ['ip', '-oneline', 'link']),
    linesOf('route', ['ip', 'route', 'show', 'table', 'all']),
    linesOf('loop device', ['losetup', '--list', '--noheadings', '--output', 'NAME,BACK-FILE']),
    rulesOf(`cpd_${hash}`),
  ])
  const lines = [
    ...pids.map((pid) => `process ${commandLine(pid)}`),
    ...pids.flatMap(namespacesOf).map((name) => `namespace ${name}`),
    ...heldNamespaces(),
    ...groups(CGROUP_ROOT).filter(isOurs),
    ...fileLines('mount', '/proc/self/mountinfo').filter(isOurs),
    ...told.slice(0, 3).flat().filter(isOurs).map(withoutNumbers),
    ...(told[3] ?? []),
    ...fileLines('user', '/etc/passwd'),
    ...fileLines('group', '/etc/group'),
    ...['shm', 'msg', 'sem'].flatMap((kind) => fileLines(`System V ${kind}`, `/proc/sysvipc/${kind}`)),
    ...[tmpdir(), '/dev/shm'].flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.startsWith('cpd-mark'))
        .map((name) => `file ${folder}/${name}`),
    ),
    ...(existsSync(dir) ? readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((path) => `file ${path}`) : []),
  ]
  return new Set(numbered(lines))
}

/** What is there now and was not, and the other way round. */
export const difference = (before: ReadonlySet<string>, after: ReadonlySet<string>): string[] => [
  ...[...after].filter((line) => !before.has(line)).map((line) => `more: ${line}`),
  ...[...before].filter((line) => !after.has(line)).map((line) => `less: ${line}`),
]

/** Networks are kept ready for the next instances: how many is what matters, not which. */
const withoutNumbers = (line: string): string =>
  line
    .replace(/^link \d+: /, 'link ')
    .replace(/\b(cpd[0-9a-f]{8})[0-9a-f]{4}\b/g, '$1')
    .replace(/^(route )\d+\.\d+\.\d+\.\d+ /, '$1')
    .replace(/ link-netnsid \d+/, '')

/** Equal lines are counted each. */
function numbered(lines: readonly string[]): string[] {
  const seen = new Map<string, number>()
  return lines.map((line) => {
    const count = (seen.get(line) ?? 0) + 1
    seen.set(line, count)
    return count === 1 ? line : `${line} (${count})`
  })
}

/** Namespaces are kept alive by descriptors too; those that are kept ready have another number each time. */
const heldNamespaces = (): string[] =>
  readdirSync('/proc/self/fd')
    .map((name) => linkTarget(`/proc/self/fd/${name}`))
    .filter((target) => /^(net|mnt|pid|user|ipc):/.test(target))
    .map((target) => `held ${target.split(':')[0]} namespace`)

function linkTarget(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function groups(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [`control group ${join(entry.parentPath, entry.name)}`] : [],
  )
}

const fileLines = (kind: string, path: string): string[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `${kind} ${line}`)

async function linesOf(kind: string, argv: readonly string[]): Promise<string[]> {
  const { stdout } = await runProcess(argv, { env: TOOLS_ENV })
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `${kind} ${line.trim()}`)
}

/** Sets and maps with their elements, each line once more or less is a difference. */
const rulesOf = (table: string): Promise<string[]> => linesOf('rule', ['nft', 'list', 'table', 'inet', table])
