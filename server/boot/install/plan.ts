import { join } from 'node:path'
import { mergeEnvFile } from './env-file.ts'
import { unitText } from './unit.ts'

/** One thing to be done to a machine; each can be repeated. */
export type Step =
  | { kind: 'folder'; path: string; mode: number; owner?: string }
  | { kind: 'file'; path: string; mode: number; content: string }
  | { kind: 'executable'; path: string; from: string }
  | { kind: 'run'; argv: readonly string[] }
  | { kind: 'remove'; path: string }

export interface InstallPlanOptions {
  executable: string
  dataDir: string
  user: string | undefined
  settings: Readonly<Record<string, string>>
  existingEnvFile: string | undefined
  /** Put before every path that is written; nothing is started then. */
  root: string | undefined
  isSystemdRunning: boolean
}

export const INSTALLED_PATH = '/usr/local/bin/cpd'
export const ENV_FILE = '/etc/cpd/cpd.env'
export const UNIT_FILE = '/etc/systemd/system/cpd.service'
export const UNIT = 'cpd.service'

const [OWN_FOLDER, PASS_THROUGH, SECRET_FILE, PLAIN_FILE] = [0o700, 0o711, 0o600, 0o644]

const publicPorts = {
  CP_INGRESS_HTTP: '0.0.0.0:80',
  CP_INGRESS_HTTPS: '0.0.0.0:443',
  CP_INGRESS_POSTGRES: '0.0.0.0:5432',
  CP_INGRESS_KEY_VALUE: '0.0.0.0:6379',
}

export function planInstall(options: InstallPlanOptions): Step[] {
  const { executable, dataDir, user, settings, existingEnvFile, root, isSystemdRunning } = options
  const at = (path: string) => (root === undefined ? path : join(root, path))
  const defaults = { CP_DATA_DIR: dataDir, ...publicPorts }
  const unit = unitText({ executable: INSTALLED_PATH, envFile: ENV_FILE, user })
  const written: Step[] = [
    { kind: 'executable', path: at(INSTALLED_PATH), from: executable },
    { kind: 'folder', path: at(dataDir), mode: PASS_THROUGH, ...(user === undefined || root !== undefined ? {} : { owner: user }) },
    { kind: 'folder', path: at('/etc/cpd'), mode: OWN_FOLDER },
    { kind: 'file', path: at(ENV_FILE), mode: SECRET_FILE, content: mergeEnvFile(existingEnvFile, settings, defaults) },
    { kind: 'file', path: at(UNIT_FILE), mode: PLAIN_FILE, content: unit },
  ]
  return [...written, ...(root === undefined && isSystemdRunning ? startSteps : [])]
}

const startSteps: Step[] = [
  { kind: 'run', argv: ['systemctl', 'daemon-reload'] },
  { kind: 'run', argv: ['systemctl', 'enable', '--now', UNIT] },
]

export interface UninstallPlanOptions {
  dataDir: string
  root: string | undefined
  isSystemdRunning: boolean
  isInstalled: boolean
}

/** Ends everything and removes what was installed, but neither data nor settings. */
export function planUninstall({ dataDir, root, isSystemdRunning, isInstalled }: UninstallPlanOptions): Step[] {
  const at = (path: string) => (root === undefined ? path : join(root, path))
  const isLive = root === undefined && isSystemdRunning && isInstalled
  return [
    ...(isLive ? [{ kind: 'run', argv: ['systemctl', 'disable', '--now', UNIT] } as const] : []),
    ...(root === undefined && isInstalled ? [{ kind: 'run', argv: [INSTALLED_PATH, 'stop', '--data', dataDir] } as const] : []),
    ...[UNIT_FILE, INSTALLED_PATH, `${INSTALLED_PATH}.previous`].map((path) => ({ kind: 'remove', path: at(path) }) as const),
    ...(isLive ? [{ kind: 'run', argv: ['systemctl', 'daemon-reload'] } as const] : []),
  ]
}

export function describeStep(step: Step): string {
  switch (step.kind) {
    case 'folder':
      return `folder ${step.path}, mode ${step.mode.toString(8)}${step.owner === undefined ? '' : `, of ${step.owner}`}`
    case 'file':
      return `file ${step.path}, mode ${step.mode.toString(8)}:\n${step.content.replace(/^(?=.)/gm, '    ').trimEnd()}`
    case 'executable':
      return `executable ${step.path}, a copy of ${step.from}`
    case 'run':
      return `run ${step.argv.join(' ')}`
    case 'remove':
      return `remove ${step.path}`
  }
}
