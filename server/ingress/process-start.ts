import { readdirSync, readFileSync } from 'node:fs'

const STATE_FIELD = 0
const START_FIELD = 19

/**
 * When a process started, in the kernel's ticks: with the pid it names one process for good, as a pid alone may be given away again.
 * Undefined when it does not run, a zombie included.
 */
export function processStart(pid: number): string | undefined {
  const stat = readProc(pid, 'stat')
  // The name in brackets may hold spaces and brackets itself.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields === undefined || fields[STATE_FIELD] === 'Z' ? undefined : fields[START_FIELD]
}

/** The argument array a process was started with. */
export function processCommand(pid: number): string[] | undefined {
  return readProc(pid, 'cmdline')?.split('\0').slice(0, -1)
}

/** The processes that were started with exactly this argument array. */
export function processesOf(command: readonly string[]): number[] {
  const wanted = command.join('\0')
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && processCommand(pid)?.join('\0') === wanted)
}

function readProc(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return undefined
  }
}
