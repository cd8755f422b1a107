/** How git is run on what strangers have made, by whoever runs it here: with no configuration but ours, and nothing of the repository's own. */
import { existsSync } from 'node:fs'
import { AppError } from '../../../shared/error.ts'
import { SYSTEM_PATH } from '../../platform/process/system-tools.ts'

export const GIT = '/usr/bin/git'

/** @throws AppError not_configured on a machine without git. */
export function requireGit(): void {
  if (existsSync(GIT)) return
  throw new AppError('not_configured', 'This server has no git. Its operator installs it: apt-get install git (dnf install git).')
}

/** No hooks, monitors or other protocols; objects are checked; what is large is passed on in pieces, so that a bound on memory refuses only what is made to fill it. */
export const hardenedSettings: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.bigFileThreshold': '8m',
  'core.packedGitLimit': '192m',
  'core.packedGitWindowSize': '16m',
  'core.deltaBaseCacheLimit': '32m',
  'pack.threads': '1',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'protocol.allow': 'never',
  'transfer.fsckObjects': 'true',
}

export const hardenedEnvironment: Readonly<Record<string, string>> = {
  PATH: SYSTEM_PATH,
  LC_ALL: 'C.UTF-8',
  HOME: '/nonexistent',
  // Folders above the one that git works in may be repositories of somebody's.
  GIT_DIR: '.',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
}
