/**
 * How a workload is started: a chain of small programs, each of which does one thing and becomes the next.
 *
 *   keeper  sh     stays outside the sandbox as the parent, to write the exit status down even when the control plane is gone
 *    └ child  sh   records its own pid and start, becomes
 *             setsid, unshare   a session and a mount namespace of its own
 *             sh   makes the mounts, enters the control groups (late: a small plan should not pay for the work before), sets limits
 *             setpriv   gives up root, all groups, all capabilities and the way back to them
 *             sh   puts the environment in place and becomes the user's command
 *
 * All programs up to setpriv run as root, so they must not see the user's environment (LD_PRELOAD would make it root's). It travels under
 * a prefix and gets its real names in the last step, which only needs the names as arguments: no value ever is one.
 * The scripts are constants; everything that varies is an argument.
 */

const ENV_PREFIX = 'cpd_env_'

/**
 * $1: the record's folder; then the command to become. A shell names the fatal signal of its child on its stderr, but for interrupts and
 * broken pipes; bash does so only for a script in a file, so this one is in a file.
 */
export const KEEPER_SCRIPT = `
record=$1
shift
exec 3>&2 2>"$record/exit"
(
  exec 2>&3 3>&-
  read -r stat </proc/self/stat
  echo "$stat" >"$record/process" || exit 125
  exec "$@"
)
echo $? >&2
`

/**
 * $1: mount table or empty; $2: working directory; then files to enter control groups by, `--`, and the command to become.
 * Writes `ready` when only that command can still fail.
 */
const ENTER = `
[ -z "$1" ] || mount --all --no-mtab --fstab "$1" || exit 125
cd -- "$2" || exit 125
shift 2
while [ "$1" != -- ]; do
  echo 0 >"$1" || exit 125
  shift
done
shift
umask 022
ulimit -c 0
ulimit -n 65536 2>/dev/null
echo 500 2>/dev/null >/proc/self/oom_score_adj
echo ready >&2
exec "$@" 2>&1
`

/** Names of the environment, then `--` and the user's command. It uses no variable of its own, as each could be one of the user's. */
const RUN = String.raw`
unset PWD OLDPWD
while [ "$1" != -- ]; do
  eval "export $1=\"\$${ENV_PREFIX}$1\"; unset ${ENV_PREFIX}$1"
  shift
done
exec /bin/sh -c "$2"
`

/** What the launcher writes to its error output once nothing of its own can fail any more. */
export const READY = 'ready\n'

/** Where the launcher finds setsid, unshare, mount and setpriv; never the user's PATH. */
const TOOLS_PATH = '/usr/sbin:/usr/bin:/sbin:/bin'

export interface Launch {
  /** The file that holds `KEEPER_SCRIPT`. */
  keeperPath: string
  recordDir: string
  /** Files to enter control groups by. */
  cgroupFiles: string[]
  /** The mounts of the namespace as a file, or undefined to stay in the machine's. */
  fstabPath: string | undefined
  /** Who to become, or undefined to stay who we are. */
  user: { uid: number; gid: number } | undefined
  cwd: string
  env: Record<string, string>
  command: string
}

/** The argument array and environment that start a workload. */
export function launchCommand(launch: Launch): { argv: string[]; env: Record<string, string> } {
  const names = Object.keys(launch.env)
  return {
    argv: [
      '/bin/sh',
      launch.keeperPath,
      launch.recordDir,
      'setsid',
      ...(launch.fstabPath === undefined ? [] : ['unshare', '--mount', '--ipc', '--propagation', 'slave']),
      ...script(ENTER, 'cpd-enter'),
      launch.fstabPath ?? '',
      launch.cwd,
      ...launch.cgroupFiles,
      '--',
      ...(launch.user === undefined ? [] : dropPrivileges(launch.user)),
      ...script(RUN, 'sh'),
      ...names,
      '--',
      launch.command,
    ],
    env: { PATH: TOOLS_PATH, ...prefixed(launch.env) },
  }
}

function script(text: string, name: string): string[] {
  return ['/bin/sh', '-c', text, name]
}

function dropPrivileges({ uid, gid }: { uid: number; gid: number }): string[] {
  const ids = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
  return ['setpriv', ...ids, '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all']
}

function prefixed(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [ENV_PREFIX + name, value]))
}
