import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { replaceFileSync } from '../../../platform/files/replace-file.ts'
import type { Priority } from '../../port/workload.ts'
import { type ProcessIdentity, type ProcessStat, parseStat, readBootId } from '../kernel/proc.ts'
import { watchPath } from '../kernel/watch-path.ts'

/**
 * What is known on disk of one workload, so that a control plane that was killed at any moment loses nothing:
 *
 *   about.json   written by the engine before anything is started
 *   keeper       written by a monitor that is the init of a process namespace: it is gone when all of the workload is
 *   spool        written by the engine before anything is started: what takes the output to its file
 *   process      written by the launcher before the user's command begins
 *   stopping     made by the engine before it asks the workload to end: its children get their time even when the command is gone
 *   exit         completed by the monitor when the workload has ended
 */
export interface Workload {
  id: string
  ownerId: string
  kind: 'instance' | 'task' | 'terminal'
  /** What it gets of a busy machine; absent where an earlier version recorded it, for which all were alike. */
  priority?: Priority
  isJoined?: boolean
  /** The port that it was told to listen on; null for what listens nowhere, absent where an earlier version recorded it. */
  port?: number | null
  bootId: string
}

export interface RecordedExit {
  /** Null when a signal ended it, or when nobody was left to see it end. */
  exitCode: number | null
  signal: string | null
  at: string
}

export interface Records {
  readonly bootId: string
  dirOf(id: string): string
  write(workload: Workload): void
  all(): Workload[]
  /** The process as it was when it was recorded, its parent being the monitor; undefined while the launcher has not come that far, and after a reboot. */
  processOf(workload: Workload): ProcessStat | undefined
  monitorOf(workload: Workload): ProcessIdentity | undefined
  noteSpool(id: string, pid: number): void
  spoolOf(workload: Workload): ProcessIdentity | undefined
  markStopping(id: string): void
  exitOf(id: string): RecordedExit | undefined
  watch(id: string, onChange: () => void): () => void
  writeUnknownExit(id: string): void
  ageMs(id: string): number
  remove(id: string): void
}

export const recordDirIn = (stateDir: string, id: string): string => join(stateDir, RECORDS, id)

export const RECORDS = 'instances'

/** Executables of before and after an upgrade read each other's records, so it keeps the name that it once had. */
export const MONITOR_FILE = 'keeper'

const ABOUT_FILE = 'about.json'
const UNKNOWN_EXIT = 'unknown\n'

export function openRecords(directory: string): Records {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const dirOf = (id: string) => join(directory, id)
  const bootId = readBootId()
  const statIn = (workload: Workload, name: 'process' | typeof MONITOR_FILE | 'spool') =>
    workload.bootId === bootId ? parseStat(readText(join(dirOf(workload.id), name))) : undefined
  return {
    bootId,
    dirOf,
    write: (workload) => {
      mkdirSync(dirOf(workload.id), { mode: 0o700, recursive: true })
      replaceFileSync(join(dirOf(workload.id), ABOUT_FILE), aboutText(workload), { isDurable: false })
    },
    all: () => readdirSync(directory).flatMap((id) => readAbout(dirOf(id))),
    processOf: (workload) => statIn(workload, 'process'),
    monitorOf: (workload) => statIn(workload, MONITOR_FILE),
    noteSpool: (id, pid) => writeFileSync(join(dirOf(id), 'spool'), readFileSync(`/proc/${pid}/stat`), { mode: 0o600 }),
    spoolOf: (workload) => statIn(workload, 'spool'),
    markStopping: (id) => writeFileSync(join(dirOf(id), 'stopping'), '', { mode: 0o600 }),
    exitOf: (id) => readExit(join(dirOf(id), 'exit')),
    watch: (id, onChange) => watchPath(dirOf(id), onChange),
    writeUnknownExit: (id) => writeFileSync(join(dirOf(id), 'exit'), UNKNOWN_EXIT, { mode: 0o600 }),
    ageMs: (id) => Date.now() - (statSync(join(dirOf(id), ABOUT_FILE), { throwIfNoEntry: false })?.mtimeMs ?? 0),
    remove: (id) => rmSync(dirOf(id), { recursive: true, force: true }),
  }
}

/** Executables of before and after an upgrade read it, so the owner's id keeps the name that it had when services were the only owners. */
function aboutText({ ownerId: serviceId, ...workload }: Workload): string {
  return JSON.stringify({ ...workload, serviceId })
}

function readAbout(directory: string): Workload[] {
  try {
    const { serviceId: ownerId, ...workload } = JSON.parse(readText(join(directory, ABOUT_FILE)))
    return [{ ...workload, ownerId }]
  } catch {
    // Nothing is started before the record is complete, so this one never was; or a loss of power has emptied it, and ended what ran.
    rmSync(directory, { recursive: true, force: true })
    return []
  }
}

function readExit(path: string): RecordedExit | undefined {
  const text = readText(path)
  const outcome = parseExit(text)
  return outcome === undefined ? undefined : { ...outcome, at: statSync(path).mtime.toISOString() }
}

const SIGNAL_STATUS_BASE = 128

/**
 * Reads what the monitor wrote: the status of its child on the last line. A shell gives a fatal signal N as 128 + N, just as a program may
 * itself exit with such a code; but before it, it prints the signal's name ("Killed"), and for an exit it prints nothing.
 */
export function parseExit(text: string): { exitCode: number | null; signal: string | null } | undefined {
  if (text === UNKNOWN_EXIT) return { exitCode: null, signal: null }
  // The name may have been written and the status not yet, and some names end in a digit.
  const match = /^(.*\n)?(\d+)\n$/s.exec(text)
  if (match === null) return undefined
  const status = Number(match[2])
  const isSignal = match[1] !== undefined && status > SIGNAL_STATUS_BASE
  return isSignal ? { exitCode: null, signal: signalName(status - SIGNAL_STATUS_BASE) } : { exitCode: status, signal: null }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function signalName(number: number): string {
  const entry = Object.entries(constants.signals).find(([, value]) => value === number)
  return entry === undefined ? String(number) : entry[0]
}
