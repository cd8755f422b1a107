import type { postgresPlans } from '../../../shared/postgres.ts'

export interface ServerSize {
  plan: (typeof postgresPlans)[keyof typeof postgresPlans]
  sizeGb: number
  version: number
}

/** Kept free of tenants' connections, for the platform's own. */
const RESERVED_CONNECTIONS = 5
const MB_PER_GB = 1024
const KB_PER_MB = 1024

const mb = (value: number): string => `${Math.floor(value)}MB`
const between = (least: number, most: number, value: number): number => Math.min(most, Math.max(least, value))

/**
 * Settings of a server out of its plan and disk. A quarter of the memory for shared_buffers, less of it below 1 GB, and three quarters for
 * effective_cache_size is what the chapters "Resource Consumption" and "Query Planning" of PostgreSQL's manual advise; work_mem and
 * maintenance_work_mem follow PGTune, with the manual's default as the least work_mem. What an idle server touches of its shared memory was
 * measured: `io_max_concurrency`, of which `io_method` sync needs one, the slots of workers and the locks of serializable transactions make a third of it.
 * WAL is bounded by the disk: a quarter of it for who has fallen behind, an eighth between two checkpoints.
 */
export function settingsOf({ plan, sizeGb, version }: ServerSize): Record<string, string> {
  const { memoryMb, connections, cpu } = plan
  const isSmall = memoryMb < MB_PER_GB
  const shared = isSmall ? memoryMb / 8 : memoryMb / 4
  const parallel = Math.floor(between(0, 4, cpu / 2))
  return {
    max_connections: String(connections + RESERVED_CONNECTIONS),
    superuser_reserved_connections: String(RESERVED_CONNECTIONS),
    shared_buffers: mb(shared),
    effective_cache_size: mb((memoryMb / 4) * 3),
    work_mem: mb(Math.max(4, (memoryMb - shared) / (connections * 3))),
    maintenance_work_mem: mb(between(16, 2048, memoryMb / 16)),
    max_parallel_workers_per_gather: String(parallel),
    max_parallel_maintenance_workers: String(parallel),
    random_page_cost: '1.1',
    wal_level: 'replica',
    // Five read replicas and a standby, each of which takes two while it is made, and who receives the log.
    max_wal_senders: '16',
    ...settingsOfDisk(sizeGb),
    max_logical_replication_workers: '0',
    huge_pages: 'off',
    password_encryption: 'scram-sha-256',
    ssl: 'off',
    unix_socket_directories: '',
    // Who has gone without a word is found within two minutes, also in the midst of a statement that takes hours.
    tcp_keepalives_idle: '60',
    tcp_keepalives_interval: '10',
    tcp_keepalives_count: '6',
    client_connection_check_interval: '10s',
    shared_preload_libraries: 'pg_stat_statements',
    'pg_stat_statements.max': isSmall ? '500' : '1000',
    'pg_stat_statements.track_utility': 'off',
    'pg_stat_statements.save': 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%q%u@%d ',
    log_checkpoints: 'off',
    lc_messages: 'C',
    lc_monetary: 'C',
    lc_numeric: 'C',
    lc_time: 'C',
    default_text_search_config: 'pg_catalog.english',
    ...(version >= 17 && { summarize_wal: 'on', allow_alter_system: 'off' }),
    // Rows and pages that a serializable transaction has read become the whole table as late as with the manual's defaults.
    ...(isSmall && { max_pred_locks_per_transaction: '32', max_pred_locks_per_relation: '31' }),
    ...(version >= 18 && { io_method: 'sync', io_max_concurrency: '8', autovacuum_worker_slots: '8' }),
  }
}

/** What comes of the size of the disk, and can be changed while the server runs. */
function settingsOfDisk(sizeGb: number): Record<string, string> {
  const diskMb = sizeGb * MB_PER_GB
  return {
    min_wal_size: mb(between(32, 1024, diskMb / 16)),
    max_wal_size: mb(between(128, 8192, diskMb / 8)),
    max_slot_wal_keep_size: mb(diskMb / 4),
    temp_file_limit: `${(diskMb / 2) * KB_PER_MB}kB`,
  }
}

/** Settings that hold beside those that a server was started with, until its next start. */
export function liveSettings({ sizeGb, isFull, overrides }: Live): Record<string, string> {
  const ofDisk = Object.entries(settingsOfDisk(sizeGb)).map(([name, value]) => [name, overrides[name] ?? value])
  return { ...Object.fromEntries(ofDisk), ...(isFull && { default_transaction_read_only: 'on' }) }
}

interface Live {
  sizeGb: number
  isFull: boolean
  overrides: Readonly<Record<string, string>>
}
