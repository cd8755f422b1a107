import { mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProcess, spawnProcess } from '../../../platform/process/spawn.ts'
import { systemEnv } from '../../../platform/process/system-tools.ts'
import { type Attempt, refuse, type Try } from './attempt.ts'
import type { Targets } from './targets.ts'

const TOOL_TIMEOUT_MS = 3000
const PRIVILEGED_PORTS = [22, 53, 80, 443]

/** What a hostile app tries to become more than it is. Where it could succeed it changes nothing that lasts. */
export function privilegeTries({ controlFiles, folders }: Targets): Try[] {
  return [
    {
      id: 'gain-privileges',
      title: 'becomes root or gains capabilities',
      guarantee: 'no-privileges',
      attempts: [
        { what: 'setuid', act: () => process.setuid?.(0) ?? 'is root' },
        { what: 'setgid', act: () => process.setgid?.(0) ?? 'is in the group of root' },
        { what: 'capabilities', act: capabilities },
        { what: 'no_new_privs', act: () => (statusField('NoNewPrivs') === '1' ? refuse('set') : 'a setuid program would be obeyed') },
        tool(['su', '-c', 'id']),
        tool(['sudo', '-n', 'id']),
      ],
    },
    {
      id: 'raise-priority',
      title: 'puts itself before others',
      guarantee: 'no-privileges',
      attempts: [
        { what: 'nice', act: () => setPriority(-10) ?? 'raised' },
        tool(['chrt', '--fifo', '50', 'true']),
        tool(['ionice', '-c', '1', 'true']),
      ],
    },
    {
      id: 'mount',
      title: 'mounts, makes devices or changes its root',
      guarantee: 'no-privileges',
      attempts: [
        { what: 'mount', act: mounting },
        { what: 'mknod', act: makingDevice },
        tool(['chroot', '/', 'true']),
        tool(['nsenter', '--target', '1', '--mount', 'true']),
      ],
    },
    {
      id: 'unhide',
      title: 'uncovers hidden folders in a user namespace of its own',
      guarantee: 'private-files',
      attempts: [...new Set(folders.map(({ path }) => path)), '/tmp'].map((path) => uncovering(path, controlFiles)),
    },
    {
      id: 'change-kernel',
      title: "changes the kernel's settings",
      guarantee: 'no-privileges',
      attempts: ['kernel/core_pattern', 'kernel/hostname', 'vm/overcommit_memory', 'net/ipv4/ip_forward'].map(rewriting),
    },
    { id: 'leave-groups', title: 'leaves its control groups or raises their limits', guarantee: 'no-escape', attempts: groupAttempts() },
    {
      id: 'bind-privileged',
      title: 'listens at a port below 1024',
      guarantee: 'no-privileges',
      attempts: PRIVILEGED_PORTS.map((port) => ({ what: `port ${port}`, act: () => listenAt(port) })),
    },
  ]
}

function tool(argv: readonly string[]): Attempt {
  return {
    what: argv.join(' '),
    act: async () => {
      const { exitCode } = await runProcess(argv, { env: systemEnv, timeoutMs: TOOL_TIMEOUT_MS })
      return exitCode === 0 ? 'done' : refuse(`exit code ${exitCode}`)
    },
  }
}

async function mounting(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'mount-'))
  try {
    await tool(['mount', '-t', 'tmpfs', 'none', dir]).act()
    await tool(['umount', dir]).act()
    return 'done'
  } finally {
    rmdirSync(dir)
  }
}

/** The device is of the same kind as /dev/null, so that nothing can be done with it that could not be done without. */
async function makingDevice(): Promise<string> {
  const path = join(tmpdir(), `device-${process.pid}`)
  try {
    await tool(['mknod', path, 'c', '1', '3']).act()
    return 'done'
  } finally {
    rmSync(path, { force: true })
  }
}

const statusField = (name: string): string =>
  new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? ''

function capabilities(): string {
  const held = ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'].filter((name) => !/^0*$/.test(statusField(name)))
  return held.length === 0 ? refuse('none') : held.map((name) => `${name} ${statusField(name)}`).join(', ')
}

/** A process that waits in new namespaces, where we are root and may unmount what is not locked. */
function uncovering(path: string, controlFiles: readonly string[]): Attempt {
  return {
    what: path,
    act: async () => {
      const holder = spawnProcess(['unshare', '--user', '--map-root-user', '--mount', 'sleep', '10'], { env: systemEnv })
      try {
        await Bun.sleep(SETTLE_MS)
        const inside = ['nsenter', '--target', String(holder.pid), '--user', '--mount', '--preserve-credentials']
        const { exitCode } = await runProcess([...inside, 'umount', '--lazy', path], { env: systemEnv, timeoutMs: TOOL_TIMEOUT_MS })
        if (exitCode !== 0) refuse('not unmounted')
        const read = controlFiles.filter((file) => canRead(`/proc/${holder.pid}/root${file}`))
        return read.length === 0 ? refuse('nothing below it') : `read ${read.join(', ')}`
      } finally {
        holder.kill('SIGKILL')
        await holder.exited
      }
    },
  }
}

const SETTLE_MS = 300

function canRead(path: string): boolean {
  try {
    readFileSync(path)
    return true
  } catch {
    return false
  }
}

const rewriting = (name: string): Attempt => ({
  what: name,
  act: () => {
    const path = join('/proc/sys', name)
    writeFileSync(path, readFileSync(path))
    return 'written'
  },
})

const CGROUP_ROOT = '/sys/fs/cgroup'
const LIMIT_FILES = ['memory.max', 'memory.limit_in_bytes', 'cpu.max', 'cpu.cfs_quota_us', 'pids.max', 'cgroup.freeze']

function groupAttempts(): Attempt[] {
  const hierarchies = [CGROUP_ROOT, ...foldersOf(CGROUP_ROOT).map((name) => join(CGROUP_ROOT, name))]
  const own = ownGroups()
  const groups = hierarchies.flatMap((root) => own.map((group) => join(root, group)))
  return [
    ...hierarchies.flatMap((root) => ['cgroup.procs', 'tasks'].map((file) => rewritten(join(root, file), String(process.pid)))),
    ...groups.flatMap((group) => LIMIT_FILES.map((file) => rewritten(join(group, file), 'max'))),
  ]
}

const ownGroups = (): string[] =>
  readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(':')[2] ?? [])

const rewritten = (path: string, value: string): Attempt => ({
  what: path,
  act: () => {
    writeFileSync(path, value, { flag: 'r+' })
    return 'written'
  },
})

function foldersOf(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
  } catch {
    return []
  }
}

function listenAt(port: number): string {
  const listener = Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } })
  listener.stop(true)
  return 'listened'
}
