import { dirname, join } from 'node:path'

/**
 * Where everything stands below the data directory. Folders that hold secrets are 0700; those on the way to a service's own
 * files are 0711 or 0710, so that its user can pass through and nobody can list.
 */
export interface Paths {
  data: string
  masterKey: string
  /** What entries of the audit log are signed with; beside the master key. */
  auditKey: string
  db: string
  controlDb: string
  logsDb: string
  metricsDb: string
  run: string
  lock: string
  ingressSocket: string
  routesFile: string
  /** What the ingress shows to the control plane. */
  ingressProof: string
  /** Certificates as the ingress serves them; their keys are sealed. */
  certificatesFile: string
  ingressOutput: string
  /** Lines of requests on their way into the log store. */
  accessLogs: string
  engineState: string
  /** Where the control plane answers the commands of this machine. */
  serveSocket: string
  /** What an upgrade intends and how far it got. */
  upgradeJournal: string
  /** The process of a new version on trial. */
  upgradeTrial: string
  /** Where a new version tries itself on copies of the databases. */
  upgradeCheck: string
  upgradeLock: string
  /** Databases as they were before upgrades. */
  backups: string
  uploads: string
  toolchain: string
  /** Of services, each in a folder of its own; see diskPathsOf. */
  disks: string
  services: string
}

/** All of them below `dataDir`; only the keys may stand elsewhere. */
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
    toolchain: join(dataDir, 'toolchain'),
    disks: join(dataDir, 'disks'),
    services: join(dataDir, 'services'),
  }
}

export interface ServicePaths {
  root: string
  /** Uploaded archives by source id; root's alone. */
  sources: string
  releases: string
  builds: string
  cache: string
  home: string
  tmp: string
  /** Secret files of running releases, in clear, readable by the service's user alone. */
  secrets: string
  /** Append-only output of instances and builds; root's alone. */
  output: string
  /** What was moved aside to be deleted; root's alone. */
  trash: string
}

/** Where everything of one service stands. */
export function servicePathsOf(paths: Paths, serviceId: string): ServicePaths {
  const root = join(paths.services, serviceId)
  return {
    root,
    sources: join(root, 'sources'),
    releases: join(root, 'releases'),
    builds: join(root, 'builds'),
    cache: join(root, 'cache'),
    home: join(root, 'home'),
    tmp: join(root, 'tmp'),
    secrets: join(root, 'secrets'),
    output: join(root, 'output'),
    trash: join(root, 'trash'),
  }
}
