/**
 * How git is run: as the service's own user, without privileges, network or configuration but this, in a view in which the repository stands
 * at one place whatever is above it. It runs nothing of the repository's: no hook, no filter, no alias, and nothing that a client names.
 */
import { SYSTEM_PATH } from '../../../platform/process/system-tools.ts'
import { isRoot } from '../../../platform/service-folders.ts'

export interface Repository {
  serviceId: string
  folder: string
  uid: number
}

export interface GitCall {
  args: readonly string[]
  /** Settings beside those that hold for every call. */
  settings?: Readonly<Record<string, string>>
  /** What the client says of the versions that it speaks. */
  protocol?: string
  maxFileBytes?: number
}

export const GIT = 'git'

const MEBIBYTE = 1024 * 1024
const MAX_ADDRESS_SPACE = 1024 * MEBIBYTE
const MAX_CPU_SECONDS = 900
const MAX_OPEN_FILES = 512
/** Ends before what tenants run (500 in engines/process), when memory runs out. */
const OOM_SCORE = 700

const SHOWN_AT = '/dev/shm'
const SHOWN = `${SHOWN_AT}/repository`

const SHOW_SCRIPT = `set -eu
mount -t tmpfs -o mode=711,size=64k,nosuid,nodev shown ${SHOWN_AT}
mkdir ${SHOWN}
mount --bind -o nosuid,nodev "$1" ${SHOWN}
shift
cd ${SHOWN}
exec "$@"`

const settings: Readonly<Record<string, string>> = {
  'safe.directory': '*',
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.alternateRefsCommand': '/bin/true',
  'core.bigFileThreshold': '8m',
  'core.packedGitLimit': '192m',
  'core.packedGitWindowSize': '16m',
  'core.deltaBaseCacheLimit': '32m',
  'pack.threads': '1',
  'pack.windowMemory': '64m',
  'pack.deltaCacheSize': '32m',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'protocol.allow': 'never',
  'transfer.fsckObjects': 'true',
  // What old programs wrote and harms nobody; histories that hold it could not be pushed otherwise.
  'receive.fsck.zeroPaddedFilemode': 'ignore',
  'receive.fsck.missingSpaceBeforeDate': 'ignore',
  'receive.fsck.badTimezone': 'ignore',
  'receive.fsck.missingEmail': 'ignore',
  'receive.unpackLimit': '1',
  'receive.autogc': 'false',
  'receive.denyNonFastForwards': 'false',
  'receive.denyDeletes': 'false',
  'receive.advertiseAtomic': 'false',
  'receive.advertisePushOptions': 'false',
  'uploadpack.hideRefs': 'refs/cpd',
  'uploadpack.allowFilter': 'true',
  'tar.tar.gz.command': 'git archive gzip',
}

const environment = {
  PATH: SYSTEM_PATH,
  LC_ALL: 'C.UTF-8',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_DIR: '.',
  // Objects of folders that a pushed file names are not to be looked for.
  GIT_NO_REPLACE_OBJECTS: '1',
}

/** The whole environment of git; nothing of ours is in it. */
export const gitEnvironment = ({ folder }: Repository, { protocol }: Pick<GitCall, 'protocol'> = {}): Record<string, string> => ({
  ...environment,
  CPD_FOLDER: folder,
  ...(protocol !== undefined && { GIT_PROTOCOL: protocol }),
})

/** The arguments that run git on a repository. */
export function gitArguments(repository: Repository, { args, settings: own = {}, maxFileBytes }: GitCall): string[] {
  const given = Object.entries({ ...settings, ...own }).flatMap(([key, value]) => ['-c', `${key}=${value}`])
  return inSandbox(repository, [GIT, ...given, ...args], maxFileBytes)
}

/** The arguments that run a program of the machine's where git runs, with the rights that git has. */
export function inSandbox({ folder, uid }: Repository, argv: readonly string[], maxFileBytes?: number): string[] {
  const limits = [`--as=${MAX_ADDRESS_SPACE}`, `--cpu=${MAX_CPU_SECONDS}`, `--nofile=${MAX_OPEN_FILES}`, '--core=0']
  const bounded = ['/usr/bin/prlimit', ...limits, ...(maxFileBytes === undefined ? [] : [`--fsize=${maxFileBytes}`]), '--']
  const least = ['--no-new-privs', '--pdeathsig=TERM', '--']
  if (!isRoot) return [...bounded, '/usr/bin/setpriv', ...least, ...argv]
  const user = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all']
  return [
    ...['/usr/bin/unshare', '--mount', '--net', '--ipc', '--propagation=slave', '--', '/bin/sh', '-c', SHOW_SCRIPT, 'cpd-git', folder],
    ...['/usr/bin/choom', '-n', String(OOM_SCORE), '--', ...bounded, '/usr/bin/setpriv', ...user, ...least, ...argv],
  ]
}
