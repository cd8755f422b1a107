/**
 * How git is run: as the service's own user, without privileges, network or configuration but this, in a view in which the repository stands
 * at one place whatever is above it. It runs nothing of the repository's: no hook, no filter, no alias, and nothing that a client names.
 */
import { isRoot } from '../../../platform/service-folders.ts'
import { GIT, hardenedEnvironment, hardenedSettings } from '../../git/hardened.ts'

export interface Repository {
  serviceId: string
  folder: string
  uid: number
}

export interface GitCall {
  args: readonly string[]
  settings?: Readonly<Record<string, string>>
  protocol?: string
  maxFileBytes?: number
}

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
  ...hardenedSettings,
  'safe.directory': '*',
  'core.alternateRefsCommand': '/bin/true',
  'pack.windowMemory': '64m',
  'pack.deltaCacheSize': '32m',
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

export const gitEnvironment = ({ folder }: Repository, { protocol }: Pick<GitCall, 'protocol'> = {}): Record<string, string> => ({
  ...hardenedEnvironment,
  GIT_NO_REPLACE_OBJECTS: '1',
  CPD_FOLDER: folder,
  ...(protocol !== undefined && { GIT_PROTOCOL: protocol }),
})

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
