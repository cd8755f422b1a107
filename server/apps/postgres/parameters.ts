import { AppError } from '../../../shared/error.ts'

/** A whole number, by least and most; a size, in MB, or a time, in ms, as PostgreSQL writes it; on or off; or one of some words. */
type Kind =
  | { is: 'integer'; least: number; most: number }
  | { is: 'real'; least: number; most: number }
  | { is: 'size'; leastKb: number; mostMb: number }
  | { is: 'time' }
  | { is: 'switch' }
  | { is: 'word'; of: readonly string[] }

const integer = (least: number, most: number): Kind => ({ is: 'integer', least, most })
const real = (least: number, most: number): Kind => ({ is: 'real', least, most })
const size = (leastKb: number, mostMb: number): Kind => ({ is: 'size', leastKb, mostMb })
const time: Kind = { is: 'time' }
const onOff: Kind = { is: 'switch' }
const word = (...of: string[]): Kind => ({ is: 'word', of })

/** Settings that tenants may have otherwise: none that names a file, a program, a library or an address, or that loses what was acknowledged. */
const allowed: Readonly<Record<string, Kind>> = {
  autovacuum: onOff,
  autovacuum_analyze_scale_factor: real(0, 100),
  autovacuum_analyze_threshold: integer(0, 2_147_483_647),
  autovacuum_max_workers: integer(1, 8),
  autovacuum_naptime: time,
  autovacuum_vacuum_cost_delay: time,
  autovacuum_vacuum_cost_limit: integer(-1, 10_000),
  autovacuum_vacuum_scale_factor: real(0, 100),
  autovacuum_vacuum_threshold: integer(0, 2_147_483_647),
  checkpoint_timeout: time,
  deadlock_timeout: time,
  default_statistics_target: integer(1, 10_000),
  default_transaction_isolation: word('read committed', 'repeatable read', 'serializable', 'read uncommitted'),
  effective_cache_size: size(8, 1_048_576),
  effective_io_concurrency: integer(0, 1000),
  hash_mem_multiplier: real(1, 1000),
  idle_in_transaction_session_timeout: time,
  idle_session_timeout: time,
  jit: onOff,
  lock_timeout: time,
  log_connections: onOff,
  log_disconnections: onOff,
  log_lock_waits: onOff,
  log_min_duration_statement: time,
  log_statement: word('none', 'ddl', 'mod', 'all'),
  log_temp_files: size(0, 1_048_576),
  maintenance_work_mem: size(1024, 65_536),
  max_connections: integer(10, 1000),
  max_locks_per_transaction: integer(10, 4096),
  max_parallel_maintenance_workers: integer(0, 64),
  max_parallel_workers: integer(0, 64),
  max_parallel_workers_per_gather: integer(0, 64),
  max_pred_locks_per_page: integer(0, 1000),
  max_pred_locks_per_relation: integer(-1000, 100_000),
  max_pred_locks_per_transaction: integer(10, 4096),
  max_wal_size: size(131_072, 65_536),
  random_page_cost: real(0, 1000),
  shared_buffers: size(128, 65_536),
  statement_timeout: time,
  synchronous_commit: word('on', 'local', 'off'),
  // Commits wait until the receiver of the log, which is called so, has them.
  synchronous_standby_names: word('pg_receivewal'),
  track_io_timing: onOff,
  transaction_timeout: time,
  wal_compression: word('on', 'off', 'pglz'),
  work_mem: size(64, 65_536),
}

/** @throws AppError validation_failed naming each parameter that cannot be set, or not to this. */
export function refuseBadParameters(given: Readonly<Record<string, string>>): void {
  const details = Object.entries(given).flatMap(([name, value]) => {
    const problem = problemOf(name, value)
    return problem === undefined ? [] : [{ path: `/parameterOverrides/${name}`, message: problem }]
  })
  if (details.length === 0) return
  const told = details.map(({ path, message }) => `${path.split('/').at(-1)} ${message}`).join('; ')
  const isUnknown = Object.keys(given).some((name) => !Object.hasOwn(allowed, name))
  const names = isUnknown ? ` Those that can be set are ${Object.keys(allowed).join(', ')}.` : ''
  throw new AppError('validation_failed', `${told}.${names}`, { details })
}

function problemOf(name: string, value: string): string | undefined {
  const kind = Object.hasOwn(allowed, name) ? allowed[name] : undefined
  if (kind === undefined) return 'cannot be set'
  switch (kind.is) {
    case 'integer':
      return isNumber(value, kind, /^-?\d{1,10}$/) ? undefined : `has to be a whole number from ${kind.least} to ${kind.most}`
    case 'real':
      return isNumber(value, kind, /^\d{1,5}(?:\.\d{1,6})?$/) ? undefined : `has to be a number from ${kind.least} to ${kind.most}`
    case 'size':
      return isSize(value, kind) ? undefined : `has to be a size from ${kind.leastKb}kB to ${kind.mostMb}MB, such as 64MB`
    case 'time':
      return /^(?:-1|0|\d{1,7}(?:us|ms|s|min|h|d))$/.test(value) ? undefined : 'has to be a time with its unit, such as 500ms or 5min'
    case 'switch':
      return /^(?:on|off)$/.test(value) ? undefined : 'has to be on or off'
    case 'word':
      return kind.of.includes(value) ? undefined : `has to be one of ${kind.of.join(', ')}`
    default:
      return kind satisfies never
  }
}

const isNumber = (value: string, { least, most }: { least: number; most: number }, form: RegExp): boolean =>
  form.test(value) && Number(value) >= least && Number(value) <= most

const kbOf: Record<string, number> = { kB: 1, MB: 1024, GB: 1024 * 1024 }

function isSize(value: string, { leastKb, mostMb }: { leastKb: number; mostMb: number }): boolean {
  if (value === '-1' || value === '0') return leastKb === 0
  const [, amount, unit] = /^(\d{1,9})(kB|MB|GB)$/.exec(value) ?? []
  const kb = Number(amount) * (kbOf[unit ?? ''] ?? Number.NaN)
  return kb >= leastKb && kb <= mostMb * 1024
}
