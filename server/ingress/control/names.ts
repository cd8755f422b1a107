import { linkSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { processStart } from '../../platform/process/process-start.ts'

/**
 * Names of control sockets. During a hand-over two and more ingresses live at a time: each has a name of its own, `ingress-<pid>.sock`,
 * and the newest has the well-known one, `ingress.sock`, beside it. Both names lead to the same socket.
 */

export const ownSocketPath = (controlSocketPath: string, pid: number): string => controlSocketPath.replace(/(\.sock)?$/, `-${pid}.sock`)

export function takeName(controlSocketPath: string, pid: number): void {
  const incoming = `${controlSocketPath}.${pid}.new`
  rmSync(incoming, { force: true })
  linkSync(ownSocketPath(controlSocketPath, pid), incoming)
  renameSync(incoming, controlSocketPath)
  // A rename between two names of the same file leaves both.
  rmSync(incoming, { force: true })
}

/** Takes the names of an ingress away; the well-known one only if it is still its own. */
export function dropNames(controlSocketPath: string, pid: number): void {
  const own = ownSocketPath(controlSocketPath, pid)
  const inode = inodeOf(own)
  if (inode !== undefined && inode === inodeOf(controlSocketPath)) rmSync(controlSocketPath, { force: true })
  rmSync(own, { force: true })
}

export function otherSocketPaths(controlSocketPath: string): string[] {
  const newest = inodeOf(controlSocketPath)
  return ownSocketPaths(controlSocketPath).filter((path) => {
    const inode = inodeOf(path)
    return inode !== undefined && inode !== newest
  })
}

export const ownSocketPaths = (controlSocketPath: string): string[] => ownNamesIn(controlSocketPath).map(({ path }) => path)

export const newestOf = (controlSocketPath: string): string => String(inodeOf(controlSocketPath) ?? '')

export function sweepNames(controlSocketPath: string): void {
  const folder = dirname(controlSocketPath)
  const halfWritten = list(folder).flatMap((name) => {
    const pid = /[.-](\d+)\.(?:sock\.)?new$/.exec(name)?.[1]
    return pid === undefined ? [] : [{ path: join(folder, name), pid: Number(pid) }]
  })
  for (const { path, pid } of [...ownNamesIn(controlSocketPath), ...halfWritten]) {
    if (processStart(pid) === undefined) rmSync(path, { force: true })
  }
}

function ownNamesIn(controlSocketPath: string): { path: string; pid: number }[] {
  const folder = dirname(controlSocketPath)
  const stem = basename(controlSocketPath, '.sock')
  return list(folder).flatMap((name) => {
    const pid = Number(name.startsWith(`${stem}-`) && name.endsWith('.sock') ? name.slice(stem.length + 1, -'.sock'.length) : Number.NaN)
    return Number.isInteger(pid) ? [{ path: join(folder, name), pid }] : []
  })
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino
