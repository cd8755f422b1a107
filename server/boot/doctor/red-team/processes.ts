import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { type Attempt, refuse, type Try } from './attempt.ts'
import type { ProcessTarget, Targets } from './targets.ts'

/** What a hostile app tries with processes that are not its own. A pid it sees may be that of a process of its own namespace. */
export function processTries({ processes, processNamespace }: Targets): Try[] {
  return [
    {
      id: 'see-processes',
      title: 'sees other processes',
      guarantee: 'private-processes',
      attempts: processes.map((target) => attemptOn(target, () => 'is there')),
    },
    {
      id: 'read-processes',
      title: "reads another process's environment, arguments, memory map, open files or root",
      guarantee: 'private-processes',
      attempts: processes.flatMap((target) => [
        ...['environ', 'cmdline', 'maps', 'auxv'].map((file) => readingOf(target, file)),
        ...['root', 'cwd', 'exe'].map((link) => attemptOn(target, () => void readlinkSync(`/proc/${target.pid}/${link}`), link)),
        attemptOn(target, () => `saw ${readdirSync(`/proc/${target.pid}/fd`).length} open files`, 'fd'),
      ]),
    },
    {
      id: 'trace-processes',
      title: 'traces another process or writes into its memory',
      guarantee: 'private-processes',
      attempts: processes.flatMap((target) =>
        ['r', 'r+'].map((flags) => attemptOn(target, () => closeSync(openSync(`/proc/${target.pid}/mem`, flags)), `mem ${flags}`)),
      ),
    },
    {
      id: 'signal-processes',
      title: 'signals another process',
      guarantee: 'private-processes',
      attempts: processes.map((target) => ({ what: target.what, act: () => signal(target, processNamespace) })),
    },
    {
      id: 'read-strangers',
      title: 'reads the environment of any process of another user',
      guarantee: 'private-processes',
      attempts: visiblePids()
        .filter((pid) => uidOf(pid) !== process.getuid?.())
        .map((pid) => ({ what: `process ${pid}`, act: () => `read ${readFileSync(`/proc/${pid}/environ`).length} bytes` })),
    },
  ]
}

function attemptOn(target: ProcessTarget, act: () => unknown, part = 'process'): Attempt {
  return {
    what: `${target.what}: ${part}`,
    act: () => (isVisible(target) ? (act() ?? 'opened') : refuse('not visible')),
  }
}

const readingOf = (target: ProcessTarget, file: string): Attempt =>
  attemptOn(target, () => `read ${readFileSync(`/proc/${target.pid}/${file}`).length} bytes`, file)

/** Signal 0 changes nothing. In a namespace of our own a pid names a process of ours, which /proc may hide from us. */
function signal(target: ProcessTarget, processNamespace: string): string {
  if (readlinkSync('/proc/self/ns/pid') !== processNamespace && !isVisible(target)) refuse('in another namespace')
  process.kill(target.pid, 0)
  return 'could be signalled'
}

const isVisible = ({ pid, startTicks }: ProcessTarget): boolean => startTicksOf(pid) === startTicks

const START_FIELD = 22

/** A field of /proc/<pid>/stat (proc(5)), whose second field, a name in brackets, may hold anything. */
function startTicksOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(afterName[START_FIELD - 3])
  } catch {
    return undefined
  }
}

const visiblePids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

function uidOf(pid: number): number | undefined {
  try {
    return Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return process.getuid?.()
  }
}
