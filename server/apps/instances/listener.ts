import { readFileSync } from 'node:fs'

const LISTENING = '0A'
const STATE_COLUMN = 3
const ADDRESS_COLUMN = 1
const UID_COLUMN = 7

/** User ids of the processes that listen on a port of this machine, out of the text of /proc/net/tcp or tcp6 (see proc(5)). */
export function listenersIn(table: string, port: number): number[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[STATE_COLUMN] === LISTENING && columns[ADDRESS_COLUMN]?.endsWith(suffix))
    .map((columns) => Number(columns[UID_COLUMN]))
}

/** Whether everybody who listens on this port is this user: another service's app may have taken it while it was free. */
export function isListenedOnBy(port: number, uid: number): boolean {
  const uids = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => listenersIn(readIfThere(file), port))
  return uids.length > 0 && uids.every((listener) => listener === uid)
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
