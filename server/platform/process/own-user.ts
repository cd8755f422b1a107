/** Tools that are run by us outside of the sandboxes of tenants, each as a user who owns nothing but the folder that it works in. */
import { join } from 'node:path'
import { closedFolderAbove } from '../files/mount-place.ts'
import { isRoot } from '../service-folders.ts'

export interface OwnTool {
  programs: string
  uid: number
  folder: string
  name: string
  /** File to show as /etc/passwd, for programs that run for no user without a name. It stands where root alone writes. */
  names?: string
  args: readonly string[]
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

const NAMES_SCRIPT = `set -eu
mount --bind "$1" /etc/passwd
shift
exec "$@"`

/** They end with us, and gain nothing by what a server that was taken over tells them. */
export function toolCommand({ names, ...tool }: OwnTool): string[] {
  const argv = commandOf(tool)
  return isRoot && names !== undefined ? [...WITH_NAMES, '/bin/sh', '-c', NAMES_SCRIPT, 'sh', names, ...argv] : argv
}

/** A child of the tool may outlive it by itself, such as an ssh whose server goes on talking, and ends with this namespace. */
const WITH_NAMES = [
  ...['/usr/bin/setpriv', '--pdeathsig=KILL', '--'],
  ...['/usr/bin/unshare', '--mount', '--pid', '--fork', '--kill-child', '--propagation=slave', '--'],
]

function commandOf({ programs, uid, folder, name, args }: Omit<OwnTool, 'names'>): string[] {
  if (!isRoot) return ['/usr/bin/setpriv', ...LEAST, '--', programOf(programs, name), ...args]
  const user = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all']
  const asUser = ['/usr/bin/setpriv', ...user, ...LEAST, '--']
  if (isInReach({ programs, folder, uid })) return [...asUser, programOf(programs, name), ...args]
  const shownArgs = args.map((arg) => arg.replaceAll(folder, SHOWN.folder).replaceAll(programs, SHOWN.programs))
  const inView = ['/usr/bin/unshare', '--mount', '--propagation=slave', '--', '/bin/sh', '-c', SHOW_SCRIPT, 'sh', programs, folder]
  return [...inView, ...asUser, programOf(SHOWN.programs, name), ...shownArgs]
}

const LEAST = ['--no-new-privs', '--pdeathsig=KILL']

const programOf = (programs: string, name: string): string => (name.startsWith('/') ? name : join(programs, 'bin', name))

const isInReach = ({ programs, folder, uid }: Pick<OwnTool, 'programs' | 'folder' | 'uid'>): boolean =>
  folder.length <= MAX_FOLDER_LENGTH && [programs, folder].every((path) => closedFolderAbove(path, { uid, gid: uid }) === undefined)
