import { statSync } from 'node:fs'
import { requestsOf, statusClasses } from '../../telemetry/metrics/samples.ts'
import { NO_SERVICE } from '../../telemetry/metrics/traffic-of.ts'
import { windowOf } from '../../telemetry/traffic/tally.ts'
import type { InsightContext } from '../context.ts'
import type { Family, Sample } from './exposition.ts'

const MICROS = 1e6
const MS_PER_SECOND = 1000

export async function serverFamilies(context: InsightContext): Promise<Family[]> {
  return [...processFamilies(context), ...databaseFamilies(context), ...contentFamilies(context), ...(await ingressFamilies(context))]
}

const gauge = (name: string, help: string, samples: readonly Sample[] | number): Family => familyOf('gauge', { name, help, samples })
const counter = (name: string, help: string, samples: readonly Sample[] | number): Family => familyOf('counter', { name, help, samples })

function familyOf(type: 'gauge' | 'counter', given: { name: string; help: string; samples: readonly Sample[] | number }): Family {
  const { name, help, samples } = given
  return { name, help, type, samples: typeof samples === 'number' ? [{ labels: {}, value: samples }] : samples }
}

function processFamilies({ version, metrics }: InsightContext): Family[] {
  const { user, system } = process.cpuUsage()
  return [
    gauge('cpd_build_info', 'The version that runs.', [{ labels: { version }, value: 1 }]),
    counter('process_cpu_seconds', 'Processor time of the control plane.', (user + system) / MICROS),
    gauge('process_resident_memory_bytes', 'Memory of the control plane.', process.memoryUsage.rss()),
    gauge('process_start_time_seconds', 'When the control plane started, in seconds since 1970.', performance.timeOrigin / MS_PER_SECOND),
    gauge('cpd_event_loop_lag_seconds', 'How late the newest sweep of the metrics began.', metrics.lagMs() / MS_PER_SECOND),
  ]
}

function databaseFamilies({ paths, logStore }: InsightContext): Family[] {
  const files = { control: paths.controlDb, logs: paths.logsDb, metrics: paths.metricsDb }
  const samples = Object.entries(files).map(([database, path]) => ({ labels: { database }, value: sizeOf(path) + sizeOf(`${path}-wal`) }))
  return [
    gauge('cpd_database_size_bytes', 'Size of a database on disk, with what is not yet merged into it.', samples),
    counter('cpd_log_lines', 'Log lines ever taken in.', logStore.nextSeq() - 1),
  ]
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

function contentFamilies({ db, metrics }: InsightContext): Family[] {
  const counted = (column: string, sql: string): Sample[] =>
    db
      .query<{ value: string; count: number }, []>(sql)
      .all()
      .map(({ value, count }) => ({ labels: { [column]: value }, value: count }))
  const unrouted = metrics.totals().get(NO_SERVICE)
  const byClass = unrouted && windowOf(unrouted).byClass
  return [
    gauge(
      'cpd_services',
      'Services by type.',
      counted('type', 'SELECT type AS value, count(*) AS count FROM services WHERE deleted_at IS NULL GROUP BY type'),
    ),
    gauge(
      'cpd_datastores',
      'Databases and key-value stores by kind.',
      counted(
        'kind',
        "SELECT kind AS value, count(*) AS count FROM datastores WHERE phase <> 'deleting' AND role <> 'standby' GROUP BY kind",
      ),
    ),
    gauge(
      'cpd_instances',
      'Instances by phase.',
      counted('phase', 'SELECT phase AS value, count(*) AS count FROM instances GROUP BY phase'),
    ),
    gauge(
      'cpd_deploys',
      'Deploys that are on record, by status: fewer when services are deleted.',
      counted('status', 'SELECT status AS value, count(*) AS count FROM deploys GROUP BY status'),
    ),
    counter(
      'cpd_ingress_unrouted_requests',
      'Requests that belong to no service: unknown hosts, refused heads.',
      byClass === undefined ? 0 : requestsOf({ requests: statusClasses.map((name) => byClass[name]) }),
    ),
  ]
}

async function ingressFamilies({ ingress }: InsightContext): Promise<Family[]> {
  const status = await ingress.status().catch(() => undefined)
  const up = gauge('cpd_ingress_up', 'Whether the ingress answers on its control socket.', status === undefined ? 0 : 1)
  if (status === undefined) return [up]
  return [up, gauge('cpd_ingress_connections', 'Client connections that are open.', status.activeConnections)]
}
