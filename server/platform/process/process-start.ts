import { readdirSync, readFileSync, statSync } from 'node:fs'

const STATE_FIELD = 0
const START_FIELD = 19
/** The kernel counts in hundredths of a second on every architecture (USER_HZ). */
const MS_PER_TICK = 10

/** When a process started, in ticks: a pid alone may be given away again. Undefined when it does not run, a zombie included. */
export function processStart(pid: number): string | undefined {
  const stat = readProc(`${pid}/stat`)
  // The name in brackets may hold spaces and brackets itself.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields === undefined || fields[STATE_FIELD] === 'Z' ? undefined : fields[START_FIELD]
}

export function processAgeMs(pid: number): number | undefined {
  const startedAt = processStart(pid)
  const uptimeSeconds = Number(readProc('uptime')?.split(' ')[0])
  return startedAt === undefined ? undefined : uptimeSeconds * 1000 - Number(startedAt) * MS_PER_TICK
}

function runsFile(pid: number, path: string): boolean | undefined {
  try {
    const [running, file] = [statSync(`/proc/${pid}/exe`), statSync(path)]
    return running.ino === file.ino && running.dev === file.dev
  } catch {
    return undefined
  }
}

export function isStartedAs(pid: number, [program = '', ...args]: readonly string[]): boolean | undefined {
  const command = readProc(`${pid}/cmdline`)?.split('\0').slice(0, -1)
  if (command === undefined) return undefined
  const [runningProgram, ...runningArgs] = command
  return runningArgs.join('\0') === args.join('\0') && (runsFile(pid, program) ?? runningProgram === program)
}

export function processesOf(command: readonly string[]): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && isStartedAs(pid, command) === true)
}

function readProc(name: string): string | undefined {
  try {
    return readFileSync(`/proc/${name}`, 'utf8')
  } catch {
    return undefined
  }
}
