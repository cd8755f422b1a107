import { readdirSync, readFileSync } from 'node:fs'

/** One process as the kernel names it. A pid alone may be given to another process later; pid and start together never are. */
export interface ProcessIdentity {
  pid: number
  startTicks: number
}

export interface ProcessStat extends ProcessIdentity {
  state: string
  parentPid: number
  groupId: number
  sessionId: number
  cpuTicks: number
  residentPages: number
}

/** Linux reports times in 1/100 s on every architecture Bun runs on (USER_HZ). */
export const TICKS_PER_SECOND = 100
export const PAGE_BYTES = 4096

/** Reads a line of /proc/<pid>/stat (proc(5)), or undefined when it is none. The name in it may hold spaces and brackets. */
export function parseStat(line: string): ProcessStat | undefined {
  const pid = Number.parseInt(line, 10)
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const field = (number: number) => Number(fields[number - 3])
  if (!Number.isInteger(pid) || fields.length < 22) return undefined
  return {
    pid,
    state: fields[0] ?? '',
    parentPid: field(4),
    groupId: field(5),
    sessionId: field(6),
    cpuTicks: field(14) + field(15) + field(16) + field(17),
    startTicks: field(22),
    residentPages: field(24),
  }
}

export function readStat(pid: number): ProcessStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return undefined
  }
}

/** Whether exactly this process still runs; a zombie and a newcomer with the same pid do not count. */
export function isAlive(identity: ProcessIdentity): boolean {
  const stat = readStat(identity.pid)
  return stat !== undefined && stat.startTicks === identity.startTicks && stat.state !== 'Z' && stat.state !== 'X'
}

export function allProcesses(): ProcessStat[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readStat(Number(name)))
    .filter((stat) => stat !== undefined)
}

export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}

export function startedAt(identity: ProcessIdentity, now = Date.now()): string {
  const uptimeSeconds = Number.parseFloat(readFileSync('/proc/uptime', 'utf8'))
  return new Date(now - uptimeSeconds * 1000 + (identity.startTicks / TICKS_PER_SECOND) * 1000).toISOString()
}

/** The processes of a session and all their descendants, zombies left out. Misses those that left the session and lost their parent. */
export function treeOf(root: ProcessIdentity, processes: ProcessStat[]): number[] {
  const holder = processes.find((one) => one.pid === root.pid)
  // While any member lives the kernel gives the session's number to nobody else, so a newcomer means that all are gone.
  if (holder !== undefined && holder.startTicks !== root.startTicks) return []
  const found = new Set(processes.filter((one) => one.sessionId === root.pid || one.pid === root.pid).map((one) => one.pid))
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const one of processes) if (found.has(one.parentPid)) found.add(one.pid)
  }
  return processes.filter((one) => found.has(one.pid) && one.state !== 'Z').map((one) => one.pid)
}

export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}
