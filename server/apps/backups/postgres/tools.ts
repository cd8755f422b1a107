/** PostgreSQL's own tools, run by us outside of the database's sandbox, as a user who owns nothing else. */
import { join } from 'node:path'
import { closedFolderAbove } from '../../../platform/files/mount-place.ts'
import { SYSTEM_PATH } from '../../../platform/process/system-tools.ts'
import { isRoot } from '../../../platform/service-folders.ts'
import { type Command, type CommandOptions, type RunningCommand, startCommand } from '../process/command.ts'

export interface BackupSource {
  programs: string
  host: string
  port: number
  user: string
  password: string
  uid: number
}

export interface Tool {
  programs: string
  uid: number
  folder: string
  name: string
  args: readonly string[]
  env?: Record<string, string>
}

/** Longer names of sockets do not fit into an address (sun_path, unix(7)); the name in the folder has 14 characters. */
const MAX_FOLDER_LENGTH = 90
const SHOWN_AT = '/dev/shm'
const SHOWN = { programs: `${SHOWN_AT}/programs`, folder: `${SHOWN_AT}/files` }

/** The data directory may lie below a folder that none but root may enter, such as root's home. */
const SHOW_SCRIPT = `set -eu
mount -t tmpfs -o mode=711,size=64k,nosuid,nodev shown ${SHOWN_AT}
mkdir ${SHOWN.programs} ${SHOWN.folder}
mount --bind "$1" ${SHOWN.programs}
mount --bind "$2" ${SHOWN.folder}
shift 2
exec "$@"`

/** They end with us, and gain nothing by what a server that was taken over tells them. */
export function toolCommand({ programs, uid, folder, name, args }: Omit<Tool, 'env'>): string[] {
  if (!isRoot) return ['/usr/bin/setpriv', ...LEAST, '--', programOf(programs, name), ...args]
  const user = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all']
  const asUser = ['/usr/bin/setpriv', ...user, ...LEAST, '--']
  if (isInReach({ programs, folder, uid })) return [...asUser, programOf(programs, name), ...args]
  const shownArgs = args.map((arg) => arg.replaceAll(folder, SHOWN.folder))
  const inView = ['/usr/bin/unshare', '--mount', '--propagation=slave', '--', '/bin/sh', '-c', SHOW_SCRIPT, 'sh', programs, folder]
  return [...inView, ...asUser, programOf(SHOWN.programs, name), ...shownArgs]
}

const LEAST = ['--no-new-privs', '--pdeathsig=KILL']

const programOf = (programs: string, name: string): string => (name.startsWith('/') ? name : join(programs, 'bin', name))

const isInReach = ({ programs, folder, uid }: Pick<Tool, 'programs' | 'folder' | 'uid'>): boolean =>
  folder.length <= MAX_FOLDER_LENGTH && [programs, folder].every((path) => closedFolderAbove(path, { uid, gid: uid }) === undefined)

const toolEnv = { PATH: SYSTEM_PATH, LC_ALL: 'C', PGCONNECT_TIMEOUT: '10', HOME: '/nonexistent' }

export const connectionArgs = ({ host, port, user }: BackupSource): string[] => [
  ...['--host', host, '--port', String(port), '--username', user],
  '--no-password',
]

export const commandOf = (tool: Tool): Command => ({
  name: tool.name,
  argv: toolCommand(tool),
  // Whose it is can be seen by its environment, as by its arguments it works in a place of its own.
  env: { ...toolEnv, CPD_FOLDER: tool.folder, ...tool.env },
})

export const startTool = (tool: Tool, options?: CommandOptions): RunningCommand => startCommand(commandOf(tool), options)
