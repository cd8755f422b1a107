import type { Database } from 'bun:sqlite'
import { getDatabaseVersion, getMaximumVersion, type Migration, migrate } from 'bun-sqlite-migrations'
import { AppError } from '../../../shared/error.ts'
import initial from './migrations/0001_initial.sql' with { type: 'text' }
import domains from './migrations/0002_domains.sql' with { type: 'text' }
import certificates from './migrations/0003_certificates.sql' with { type: 'text' }
import controlsAndGuard from './migrations/0004_controls_and_guard.sql' with { type: 'text' }
import instanceAddresses from './migrations/0005_instance_addresses.sql' with { type: 'text' }
import jobs from './migrations/0006_jobs.sql' with { type: 'text' }
import disks from './migrations/0007_disks.sql' with { type: 'text' }
import sleep from './migrations/0008_sleep.sql' with { type: 'text' }
import access from './migrations/0009_access.sql' with { type: 'text' }
import audit from './migrations/0010_audit.sql' with { type: 'text' }
import clients from './migrations/0011_clients.sql' with { type: 'text' }
import ports from './migrations/0012_ports.sql' with { type: 'text' }
import quotas from './migrations/0013_quotas.sql' with { type: 'text' }
import workloads from './migrations/0014_workloads.sql' with { type: 'text' }
import steps from './migrations/0015_steps.sql' with { type: 'text' }
import sets from './migrations/0016_sets.sql' with { type: 'text' }
import projects from './migrations/0017_projects.sql' with { type: 'text' }
import events from './migrations/0018_events.sql' with { type: 'text' }
import keptDisks from './migrations/0019_kept_disks.sql' with { type: 'text' }
import webhooks from './migrations/0020_webhooks.sql' with { type: 'text' }
import envGroups from './migrations/0021_env_groups.sql' with { type: 'text' }
import deployHooks from './migrations/0022_deploy_hooks.sql' with { type: 'text' }
import notifications from './migrations/0023_notifications.sql' with { type: 'text' }
import eventsByPlace from './migrations/0024_events_by_place.sql' with { type: 'text' }
import datastores from './migrations/0025_datastores.sql' with { type: 'text' }
import backups from './migrations/0026_backups.sql' with { type: 'text' }
import datastoreVolumes from './migrations/0027_datastore_volumes.sql' with { type: 'text' }
import datastoreReferences from './migrations/0028_datastore_references.sql' with { type: 'text' }
import recoveries from './migrations/0029_recoveries.sql' with { type: 'text' }
import keyValueStores from './migrations/0030_key_value_stores.sql' with { type: 'text' }
import adoptedBackups from './migrations/0031_adopted_backups.sql' with { type: 'text' }
import postgresSpares from './migrations/0032_postgres_spares.sql' with { type: 'text' }
import postgresClusters from './migrations/0033_postgres_clusters.sql' with { type: 'text' }
import replicas from './migrations/0034_replicas.sql' with { type: 'text' }
import transfers from './migrations/0035_transfers.sql' with { type: 'text' }
import datastoreDisks from './migrations/0036_datastore_disks.sql' with { type: 'text' }
import replicaLags from './migrations/0037_replica_lags.sql' with { type: 'text' }
import failovers from './migrations/0038_failovers.sql' with { type: 'text' }
import backupCopies from './migrations/0039_backup_copies.sql' with { type: 'text' }
import messagesAbout from './migrations/0040_messages_about.sql' with { type: 'text' }
import lineages from './migrations/0041_lineages.sql' with { type: 'text' }
import upgrades from './migrations/0042_upgrades.sql' with { type: 'text' }
import gitPush from './migrations/0043_git_push.sql' with { type: 'text' }
import repositories from './migrations/0044_repositories.sql' with { type: 'text' }
import sourceHosts from './migrations/0045_source_hosts.sql' with { type: 'text' }
import commitReports from './migrations/0046_commit_reports.sql' with { type: 'text' }
import checkWaits from './migrations/0047_check_waits.sql' with { type: 'text' }
import repositoryStates from './migrations/0048_repository_states.sql' with { type: 'text' }
import deployKeys from './migrations/0049_deploy_keys.sql' with { type: 'text' }
import previews from './migrations/0050_previews.sql' with { type: 'text' }

/** Numbered, immutable SQL, embedded as text: the package's own folder loader finds no folder in a compiled executable. */
const migrations: Migration[] = [
  { version: 1, up: [initial], down: '' },
  { version: 2, up: [domains], down: '' },
  { version: 3, up: [certificates], down: '' },
  { version: 4, up: [controlsAndGuard], down: '' },
  { version: 5, up: [instanceAddresses], down: '' },
  { version: 6, up: [jobs], down: '' },
  { version: 7, up: [disks], down: '' },
  { version: 8, up: [sleep], down: '' },
  { version: 9, up: [access], down: '' },
  { version: 10, up: [audit], down: '' },
  { version: 11, up: [clients], down: '' },
  { version: 12, up: [ports], down: '' },
  { version: 13, up: [quotas], down: '' },
  { version: 14, up: [workloads], down: '' },
  { version: 15, up: [steps], down: '' },
  { version: 16, up: [sets], down: '' },
  { version: 17, up: [projects], down: '' },
  { version: 18, up: [events], down: '' },
  { version: 19, up: [keptDisks], down: '' },
  { version: 20, up: [webhooks], down: '' },
  { version: 21, up: [envGroups], down: '' },
  { version: 22, up: [deployHooks], down: '' },
  { version: 23, up: [notifications], down: '' },
  { version: 24, up: [eventsByPlace], down: '' },
  { version: 25, up: [datastores], down: '' },
  { version: 26, up: [backups], down: '' },
  { version: 27, up: [datastoreVolumes], down: '' },
  { version: 28, up: [datastoreReferences], down: '' },
  { version: 29, up: [recoveries], down: '' },
  { version: 30, up: [keyValueStores], down: '' },
  { version: 31, up: [adoptedBackups], down: '' },
  { version: 32, up: [postgresSpares], down: '' },
  { version: 33, up: [postgresClusters], down: '' },
  { version: 34, up: [replicas], down: '' },
  { version: 35, up: [transfers], down: '' },
  { version: 36, up: [datastoreDisks], down: '' },
  { version: 37, up: [replicaLags], down: '' },
  { version: 38, up: [failovers], down: '' },
  { version: 39, up: [backupCopies], down: '' },
  { version: 40, up: [messagesAbout], down: '' },
  { version: 41, up: [lineages], down: '' },
  { version: 42, up: [upgrades], down: '' },
  { version: 43, up: [gitPush], down: '' },
  { version: 44, up: [repositories], down: '' },
  { version: 45, up: [sourceHosts], down: '' },
  { version: 46, up: [commitReports], down: '' },
  { version: 47, up: [checkWaits], down: '' },
  { version: 48, up: [repositoryStates], down: '' },
  { version: 49, up: [deployKeys], down: '' },
  { version: 50, up: [previews], down: '' },
]

/** Brings the database to this executable's version. @throws AppError `unavailable` when a newer executable wrote it. */
export function migrateDatabase(db: Database): void {
  const held = getDatabaseVersion(db)
  const known = getMaximumVersion(migrations)
  if (held > known) {
    throw new AppError(
      'unavailable',
      `The database is of version ${held}, this executable knows only version ${known}. Start the newer executable, or restore a backup made before the upgrade.`,
    )
  }
  migrate(db, migrations)
}
