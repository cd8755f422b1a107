import { closeSync, openSync, readlinkSync } from 'node:fs'
import { AppError } from '../../../../shared/error.ts'
import { isAlive, type ProcessIdentity } from './proc.ts'

export type Namespaces = 'machine' | 'user' | 'none'

export interface NamespaceHandles {
  options: string[]
  release(): void
}

const NAMES: Record<Namespaces, Record<string, string>> = {
  machine: { net: 'net', mnt: 'mount', ipc: 'ipc', pid: 'pid' },
  user: { user: 'user', mnt: 'mount', ipc: 'ipc', pid: 'pid' },
  none: {},
}

/**
 * Everybody may make a user namespace, and in it mount programs of their own in the machine's place: whoever went there as root would run
 * those. There is no way back from one, so who is in none after its others were opened was in none of its making. @throws AppError
 * `conflict` when the process has left them, or has ended.
 */
export function holdNamespaces(kind: Namespaces, leader: ProcessIdentity): NamespaceHandles {
  const held = hold(Object.entries(NAMES[kind]), leader, kind === 'machine')
  return { ...held, options: [...held.options, ...(kind === 'user' ? ['--preserve-credentials'] : [])] }
}

export const holdNetwork = (leader: ProcessIdentity): NamespaceHandles => hold([['net', 'net']], leader, true)

function hold(names: readonly (readonly [string, string])[], leader: ProcessIdentity, isInUserNamespaceOfOurs: boolean): NamespaceHandles {
  const opened: { option: string; descriptor: number }[] = []
  const release = () => {
    for (const { descriptor } of opened.splice(0)) closeSync(descriptor)
  }
  try {
    for (const [name, option] of names) opened.push({ option, descriptor: openSync(`/proc/${leader.pid}/ns/${name}`, 'r') })
    if (isInUserNamespaceOfOurs && userNamespaceOf(leader.pid) !== userNamespaceOf('self')) throw hasLeft()
    if (!isAlive(leader)) throw hasLeft()
  } catch (error) {
    release()
    throw error instanceof AppError ? error : hasLeft(error)
  }
  return { options: opened.map(({ option, descriptor }) => `--${option}=/proc/${process.pid}/fd/${descriptor}`), release }
}

const userNamespaceOf = (pid: number | 'self'): string => readlinkSync(`/proc/${pid}/ns/user`)

const hasLeft = (cause?: unknown): AppError =>
  new AppError(
    'conflict',
    'The main process of the instance has ended, or has put itself into namespaces of its own, where nobody can follow. Choose another instance.',
    { cause },
  )
