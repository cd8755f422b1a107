/**
 * How a workload is started: a chain of small programs, each of which does one thing and becomes the next.
 *
 *   unshare, setsid   make the process namespace; the child of setsid is the first process in it and the parent ends, so that nothing stays
 *    └ monitor  sh    the init of the namespace, but outside the rest of the sandbox: starts the command, reaps what loses its parent, writes
 *       │             the exit status down even when the control plane is gone, and ends; with it the kernel ends everything in the namespace
 *       └ child  sh     records its own pid and start as seen from outside, becomes
 *                steps   a session, a network and a mount namespace of its own
 *                sh   makes the mounts, enters the control groups (late: a small plan should not pay for the work before), sets limits
 *                steps   gives up root, all groups, all capabilities and the way back to them, is filtered, enters the working directory,
 *                        puts the environment in place and becomes the user's command
 *
 * `steps` is a program of ours that makes a list of system calls (see step-program and launch-steps.ts). By the second time everything of
 * the installation is hidden, so it and its list are opened beforehand.
 *
 * The command is never the first process of its namespace, which would be deaf to every signal it has no handler for; and what it sends to
 * that first process, SIGKILL too, the kernel drops. An ordinary user gets the same in a user namespace, whose capabilities are kept up to
 * the end. Where the machine allows none of this, the chain is the same without `unshare`, and the monitor is a process like any other.
 *
 * All programs up to the last may run as root, so they must not see the user's environment (LD_PRELOAD would make it root's). It travels
 * under a prefix, which the last step takes off.
 * The scripts are constants; everything that varies is an argument.
 */

import { join } from 'node:path'
import { SYSTEM_PATH } from '../../platform/process/system-tools.ts'
import type { Priority } from '../port/workload.ts'
import type { CgroupView, ControlWrite } from './cgroups/cgroups.ts'
import type { Namespaces } from './kernel/namespace-handles.ts'
import { enterSteps, type LayerMount, type LeavePlan, leaveSteps } from './launch-steps.ts'
import { MONITOR_FILE } from './records/record.ts'
import type { StepFile } from './step-program/steps.ts'

const ENTER_STEPS = 'enter'
const LEAVE_STEPS = 'leave'

const ENV_PREFIX = 'cpd_env_'

/**
 * $1: the record's folder; $2: the step program; then the command to become. A shell names the fatal signal of its child on its stderr, but for interrupts and
 * broken pipes; bash does so only for a script in a file, so this one is in a file. While a stop gives children of the command the time to
 * end, the namespace must outlive the command: the monitor then becomes a sleep, for the engine to kill.
 */
export const MONITOR_SCRIPT = `
record=$1
program=$2
shift 2
exec 3>&2 2>"$record/exit"
if [ $$ -eq 1 ]; then
  read -r stat </proc/self/stat
  echo "$stat" >"$record/${MONITOR_FILE}" || exit 125
fi
(
  exec 2>&3 3>&- 8<"$record/${LEAVE_STEPS}" 9<"$program"
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

const LEAVE = ['/proc/self/fd/9', '/proc/self/fd/8', '/bin/sh', '-c']

/** The command must not be the first process of a namespace below a joined one. */
const INIT = `
"$@"
exit $?
`

/** Control groups of who joins a workload: they are covered in its mounts, so they are entered before. */
const ENTER_GROUPS = `
while [ "$1" != -- ]; do
  echo "$1" >"$2" || exit 125
  shift 2
done
shift
exec "$@"
`

export const READY = 'ready\n'

export interface LaunchPrograms {
  monitor: string
  steps: string
}

export interface Launch {
  programs: LaunchPrograms
  recordDir: string
  cgroupWrites: ControlWrite[]
  namespaces: Namespaces
  networkPath?: string | undefined
  fstabPath: string | undefined
  user: { uid: number; gid: number } | undefined
  filter: LeavePlan['filter']
  hasKeyrings: boolean
  cgroupView?: CgroupView | undefined
  layer?: LayerMount | undefined
  joinedNamespaces?: readonly string[] | undefined
  hasTerminal?: boolean
  priority: Priority
  cwd: string
  env: Record<string, string>
  command: string
}

export function launchSteps(launch: Launch): Record<typeof ENTER_STEPS | typeof LEAVE_STEPS, StepFile> {
  const { user, namespaces, networkPath, fstabPath, layer, hasTerminal = false } = launch
  const hasOwnMounts = fstabPath !== undefined
  const hasCapabilities = user !== undefined || namespaces !== 'none'
  const cgroupView = hasOwnMounts ? launch.cgroupView : undefined
  return {
    enter: { steps: enterSteps({ hasTerminal, networkPath, hasOwnMounts, layer }) },
    leave: { steps: leaveSteps({ ...launch, hasCapabilities, cgroupView }), envPrefix: ENV_PREFIX },
  }
}

export function launchCommand(launch: Launch): { argv: string[]; env: Record<string, string> } {
  return {
    argv: [
      ...(launch.joinedNamespaces === undefined ? PROCESS_NAMESPACE[launch.namespaces] : []),
      'setsid',
      '--fork',
      '/bin/sh',
      launch.programs.monitor,
      launch.recordDir,
      launch.programs.steps,
      ...(launch.joinedNamespaces === undefined ? own(launch) : joined(launch, launch.joinedNamespaces)),
      ...script(ENTER, 'cpd-enter'),
      launch.fstabPath ?? '',
      launch.cwd,
      OOM_SCORES[launch.priority],
      ...(entersEarly(launch) ? [] : groupWrites(launch)),
      '--',
      ...LEAVE,
      launch.command,
    ],
    env: { PATH: SYSTEM_PATH, ...prefixed(launch.env) },
  }
}

const own = ({ programs, recordDir }: Launch): string[] => [programs.steps, join(recordDir, ENTER_STEPS)]

/**
 * Into the namespaces of another workload, by a parent that stays outside. What is started there ends by its control group; without one it
 * gets a process namespace below the joined one, whose numbers then differ from those that /proc tells.
 */
function joined(launch: Launch, namespaces: readonly string[]): string[] {
  const isBelow = launch.cgroupWrites.length === 0 || launch.namespaces === 'user'
  const below = [...PROCESS_NAMESPACE[launch.namespaces], '--fork', '--kill-child', ...script(INIT, 'cpd-init')]
  const groups = entersEarly(launch) ? [...script(ENTER_GROUPS, 'cpd-groups'), ...groupWrites(launch), '--'] : []
  return [
    ...groups,
    ...(launch.namespaces === 'none' ? [] : ['nsenter', ...namespaces, ...(isBelow ? below : [])]),
    ...(launch.hasTerminal ? ['setsid', '--ctty'] : ['setsid']),
  ]
}

const entersEarly = ({ namespaces, joinedNamespaces }: Launch): boolean => joinedNamespaces !== undefined && namespaces === 'machine'

const groupWrites = ({ cgroupWrites }: Launch): string[] => cgroupWrites.flatMap(({ file, value }) => [value, file])

export const PROCESS_NAMESPACE: Record<Namespaces, string[]> = {
  machine: ['unshare', '--pid'],
  user: ['unshare', '--user', '--map-current-user', '--keep-caps', '--pid'],
  none: [],
}

/** Apps go before the control plane, and what can wait goes before apps. */
const OOM_SCORES: Record<Priority, string> = { live: '500', background: '800' }

function script(text: string, name: string): string[] {
  return ['/bin/sh', '-c', text, name]
}

function prefixed(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [ENV_PREFIX + name, value]))
}
