/**
 * How a workload is started: a chain of small programs, each of which does one thing and becomes the next.
 *
 *   unshare, setsid   make the process namespace; the child of setsid is the first process in it and the parent ends, so that nothing stays
 *    └ keeper  sh     the init of the namespace, but outside the rest of the sandbox: starts the command, reaps what loses its parent, writes
 *       │             the exit status down even when the control plane is gone, and ends; with it the kernel ends everything in the namespace
 *       └ child  sh   records its own pid and start as seen from outside, becomes
 *                setsid, nsenter, unshare   a session, a network and a mount namespace of its own
 *                sh   makes the mounts, enters the control groups (late: a small plan should not pay for the work before), sets limits
 *                setpriv   gives up root, all groups, all capabilities and the way back to them
 *                sh   enters the working directory, puts the environment in place and becomes the user's command
 *
 * The command is never the first process of its namespace, which would be deaf to every signal it has no handler for; and what it sends to
 * that first process, SIGKILL too, the kernel drops. An ordinary user gets the same in a user namespace, whose capabilities are kept up to
 * setpriv. Where the machine allows none of this, the chain is the same without `unshare`, and the keeper is a process like any other.
 *
 * All programs up to setpriv may run as root, so they must not see the user's environment (LD_PRELOAD would make it root's). It travels
 * under a prefix and gets its real names in the last step, which only needs the names as arguments: no value ever is one.
 * The scripts are constants; everything that varies is an argument.
 */

import { SYSTEM_PATH } from '../../process/system-tools.ts'
import type { Priority } from '../port.ts'
import type { ControlWrite } from './cgroups.ts'

const ENV_PREFIX = 'cpd_env_'

/**
 * $1: the record's folder; then the command to become. A shell names the fatal signal of its child on its stderr, but for interrupts and
 * broken pipes; bash does so only for a script in a file, so this one is in a file. While a stop gives children of the command the time to
 * end, the namespace must outlive the command: the keeper then becomes a sleep, for the engine to kill.
 */
export const KEEPER_SCRIPT = `
record=$1
shift
exec 3>&2 2>"$record/exit"
if [ $$ -eq 1 ]; then
  read -r stat </proc/self/stat
  echo "$stat" >"$record/keeper" || exit 125
fi
(
  exec 2>&3 3>&-
  read -r stat </proc/self/stat
  echo "$stat" >"$record/process" || exit 125
  exec "$@"
)
echo $? >&2
[ $$ -ne 1 ] || [ ! -e "$record/stopping" ] || exec sleep 2147483647 >/dev/null 2>&1 3>&-
`

/**
 * $1: mount table or empty; $2: working directory, which must be there; $3: how readily the kernel kills it when memory is short; then pairs of
 * what to write and the control group's file to write it to, `--`, and the command to become.
 * Writes `ready` when only that command can still fail.
 */
const ENTER = `
[ -z "$1" ] || mount --all --no-mtab --fstab "$1" || exit 125
[ -d "$2" ] || { echo "There is no folder $2" >&2; exit 125; }
echo "$3" 2>/dev/null >/proc/self/oom_score_adj
shift 3
while [ "$1" != -- ]; do
  echo "$1" >"$2" || exit 125
  shift 2
done
shift
umask 022
ulimit -c 0
ulimit -n 65536 2>/dev/null
echo ready >&2
exec "$@" 2>&1
`

/**
 * The working directory, names of the environment, then `--` and the user's command. Whoever it belongs to may have put a link in its place:
 * root would follow one to where its user may not go. It uses no variable of its own, as each could be one of the user's.
 */
const RUN = String.raw`
cd -- "$1" || exit 125
shift
unset PWD OLDPWD
while [ "$1" != -- ]; do
  eval "export $1=\"\$${ENV_PREFIX}$1\"; unset ${ENV_PREFIX}$1"
  shift
done
exec /bin/sh -c "$2"
`

/** The first process of a namespace below a joined one. It waits, so that the command is not the first. */
const INIT = `
"$@"
exit $?
`

/** What the launcher writes to its error output once nothing of its own can fail any more. */
export const READY = 'ready\n'

/** In which namespaces a workload runs: made as root of the machine, made in a user namespace by an ordinary user, or in the machine's own. */
export type Namespaces = 'machine' | 'user' | 'none'

export interface Launch {
  /** The file that holds `KEEPER_SCRIPT`. */
  keeperPath: string
  recordDir: string
  /** What is written to enter control groups and set their last limits. */
  cgroupWrites: ControlWrite[]
  namespaces: Namespaces
  /** The network namespace to enter; undefined to stay in the machine's. */
  networkPath?: string | undefined
  /** The mounts of the namespace as a file; undefined where there are no namespaces. */
  fstabPath: string | undefined
  /** Who to become, or undefined to stay who we are. */
  user: { uid: number; gid: number } | undefined
  /** Options of nsenter(1) for the namespaces that are entered, instead of making new ones. */
  joinedNamespaces?: readonly string[] | undefined
  /** The standard input is a terminal, which becomes the controlling one. */
  hasTerminal?: boolean
  priority: Priority
  cwd: string
  env: Record<string, string>
  command: string
}

/** The argument array and environment that start a workload. */
export function launchCommand(launch: Launch): { argv: string[]; env: Record<string, string> } {
  const names = Object.keys(launch.env)
  return {
    argv: [
      ...(launch.joinedNamespaces === undefined ? PROCESS_NAMESPACE[launch.namespaces] : []),
      'setsid',
      '--fork',
      '/bin/sh',
      launch.keeperPath,
      launch.recordDir,
      ...(launch.joinedNamespaces === undefined ? own(launch) : joined(launch, launch.joinedNamespaces)),
      ...script(ENTER, 'cpd-enter'),
      launch.fstabPath ?? '',
      launch.cwd,
      OOM_SCORES[launch.priority],
      ...launch.cgroupWrites.flatMap(({ file, value }) => [value, file]),
      '--',
      ...YIELDING[launch.priority],
      ...dropPrivileges(launch),
      ...script(RUN, 'sh'),
      launch.cwd,
      ...names,
      '--',
      launch.command,
    ],
    env: { PATH: SYSTEM_PATH, ...prefixed(launch.env) },
  }
}

function session({ hasTerminal }: Launch): string[] {
  return hasTerminal ? ['setsid', '--ctty'] : ['setsid']
}

function own(launch: Launch): string[] {
  return [
    ...session(launch),
    ...(launch.networkPath === undefined ? [] : ['nsenter', `--net=${launch.networkPath}`]),
    ...(launch.fstabPath === undefined ? [] : ['unshare', '--mount', '--ipc', '--propagation', 'slave']),
  ]
}

/**
 * Into the namespaces of another workload, by a parent that stays outside. What is started there ends by its control group; without one it
 * gets a process namespace below the joined one, whose numbers then differ from those that /proc tells.
 */
function joined(launch: Launch, namespaces: readonly string[]): string[] {
  const isBelow = launch.cgroupWrites.length === 0 || launch.namespaces === 'user'
  const below = [...PROCESS_NAMESPACE[launch.namespaces], '--fork', '--kill-child', ...script(INIT, 'cpd-init')]
  return [...(launch.namespaces === 'none' ? [] : ['nsenter', ...namespaces, ...(isBelow ? below : [])]), ...session(launch)]
}

/** What makes the next process that is forked the first of a process namespace. */
export const PROCESS_NAMESPACE: Record<Namespaces, string[]> = {
  machine: ['unshare', '--pid'],
  user: ['unshare', '--user', '--map-current-user', '--keep-caps', '--pid'],
  none: [],
}

/** Apps go before the control plane, and what can wait goes before apps. */
const OOM_SCORES: Record<Priority, string> = { live: '500', background: '800' }

/** Beside the weight of the control group, and where there is none. */
const YIELDING: Record<Priority, string[]> = {
  live: [],
  background: ['nice', '-n', '10', 'ionice', '--class', '2', '--classdata', '7', '--ignore'],
}

function script(text: string, name: string): string[] {
  return ['/bin/sh', '-c', text, name]
}

/** The bounding set can only be changed by one who has capabilities; without it `no_new_privs` still bars the way to any. */
function dropPrivileges({ user, namespaces }: Pick<Launch, 'user' | 'namespaces'>): string[] {
  const ids = user === undefined ? [] : [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups']
  const bounding = user === undefined && namespaces === 'none' ? [] : ['--bounding-set=-all']
  return ['setpriv', ...ids, '--no-new-privs', ...bounding, '--inh-caps=-all', '--ambient-caps=-all']
}

function prefixed(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [ENV_PREFIX + name, value]))
}
