import { dirname, join } from 'node:path'

/** Folders that hold secrets are 0700; those on the way to a service's own files are 0711 or 0710, so that its user can pass through.  */
export interface Paths {
  data: string
  masterKey: string
  auditKey: string
  db: string
  controlDb: string
  logsDb: string
  metricsDb: string
  run: string
  lock: string
  ingressSocket: string
  routesFile: string
  ingressProof: string
  certificatesFile: string
  ingressOutput: string
  accessLogs: string
  engineState: string
  serveSocket: string
  upgradeJournal: string
  upgradeTrial: string
  upgradeCheck: string
  upgradeLock: string
  backups: string
  uploads: string
  transfers: string
  fetches: string
  toolchain: string
  toolchains: string
  disks: string
  engines: string
  services: string
}

export function pathsOf(dataDir: string, masterKeyFile?: string): Paths {
  const run = join(dataDir, 'run')
  const db = join(dataDir, 'db')
  const masterKey = masterKeyFile ?? join(dataDir, 'master.key')
  return {
    data: dataDir,
    masterKey,
    auditKey: join(dirname(masterKey), 'audit.key'),
    db,
    controlDb: join(db, 'control.db'),
    logsDb: join(db, 'logs.db'),
    metricsDb: join(db, 'metrics.db'),
    run,
    lock: join(run, 'lock'),
    ingressSocket: join(run, 'ingress.sock'),
    routesFile: join(run, 'routes.json'),
    ingressProof: join(run, 'ingress-proof'),
    certificatesFile: join(run, 'certificates.json'),
    ingressOutput: join(run, 'ingress.log'),
    accessLogs: join(run, 'access'),
    engineState: join(run, 'instances'),
    serveSocket: join(run, 'serve.sock'),
    upgradeJournal: join(run, 'upgrade.json'),
    upgradeTrial: join(run, 'upgrade-trial.json'),
    upgradeCheck: join(run, 'upgrade-check'),
    upgradeLock: join(run, 'upgrade.lock'),
    backups: join(dataDir, 'backups'),
    uploads: join(dataDir, 'uploads'),
    transfers: join(dataDir, 'transfers'),
    fetches: join(dataDir, 'fetches'),
    toolchain: join(dataDir, 'toolchain'),
    toolchains: join(dataDir, 'toolchains'),
    disks: join(dataDir, 'disks'),
    engines: join(dataDir, 'engines'),
    services: join(dataDir, 'services'),
  }
}

export const TEMPORARY_PREFIX = 'incoming-'

/** A new place for what is on its way or looked at once. What is left there is removed at the next start. */
export const temporaryIn = ({ uploads }: Pick<Paths, 'uploads'>): string => join(uploads, `${TEMPORARY_PREFIX}${crypto.randomUUID()}`)

export interface ServicePaths {
  root: string
  sources: string
  releases: string
  builds: string
  cache: string
  git: string
  home: string
  tmp: string
  /** Secret files of running releases, in clear, readable by the service's user alone. */
  secrets: string
  output: string
  trash: string
}

export const outputFileIn = (own: ServicePaths, outputName: string): string => join(own.output, `${outputName}${OUTPUT_SUFFIX}`)

export const OUTPUT_SUFFIX = '.log'

export function servicePathsOf(paths: Paths, serviceId: string): ServicePaths {
  const root = join(paths.services, serviceId)
  return {
    root,
    sources: join(root, 'sources'),
    releases: join(root, 'releases'),
    builds: join(root, 'builds'),
    cache: join(root, 'cache'),
    git: join(root, 'git'),
    home: join(root, 'home'),
    tmp: join(root, 'tmp'),
    secrets: join(root, 'secrets'),
    output: join(root, 'output'),
    trash: join(root, 'trash'),
  }
}
