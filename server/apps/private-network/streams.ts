import type { Database } from 'bun:sqlite'
import type { Engine } from '../../engines/port/port.ts'
import type { Stream } from '../../ingress/tables/route-table.ts'
import { usualPorts } from '../datastores/addresses.ts'
import { type DatastoreKind, OWNER_KIND } from '../datastores/store.ts'
import { INTERNAL_PORT } from './internal-port.ts'
import { servicesIn } from './links.ts'

/** How siblings reach a service where its engine does not lead them there: at a host of the service's own, where the ingress listens for them. */
export function streamsOf({ db, engine }: { db: Database; engine: Pick<Engine, 'siblingHost'> }): Stream[] {
  const { siblingHost } = engine
  return siblingHost === undefined ? [] : [...serviceStreams(db, siblingHost), ...datastoreStreams(db, siblingHost)]
}

type SiblingHost = NonNullable<Engine['siblingHost']>

function serviceStreams(db: Database, siblingHost: SiblingHost): Stream[] {
  const rowOf = db.query<TargetRow, [string]>('SELECT address, port, own_port FROM instances WHERE id = ?')
  const listening = servicesIn(db).filter(({ listens }) => listens)
  return listening.flatMap(({ id, number, instanceIds }) => {
    const host = siblingHost({ id, number })
    const rows = instanceIds.flatMap((instanceId) => {
      const row = rowOf.get(instanceId)
      return row?.address == null ? [] : [{ row, target: { instanceId, host: row.address, port: row.port } }]
    })
    const targets = rows.map(({ target }) => target)
    const ports = targets.length === 0 ? [] : portsOf(rows.map(({ row }) => row))
    return ports.map((port) => ({ listen: { host, port }, targets }))
  })
}

interface ServerRow {
  id: string
  kind: DatastoreKind
  number: number
  instanceId: string
  host: string
  port: number
}

/** Without a listener while nothing runs: a connection is refused at once. */
function datastoreStreams(db: Database, siblingHost: SiblingHost): Stream[] {
  return db
    .query<ServerRow, [string]>(
      `SELECT d.id, d.kind, d.number, w.id AS instanceId, w.address AS host, w.port FROM datastores d
       JOIN workloads w ON w.owner_id = d.id AND w.owner_kind = ? AND w.phase = 'running'
       WHERE d.phase <> 'deleting' AND d.role <> 'standby' AND w.address IS NOT NULL AND w.port IS NOT NULL ORDER BY d.id, w.created_at DESC`,
    )
    .all(OWNER_KIND)
    .map(({ id, kind, number, ...target }) => ({
      listen: { host: siblingHost({ id, number }), port: usualPorts[kind] },
      targets: [target],
    }))
}

interface TargetRow {
  address: string | null
  port: number
  own_port: number | null
}

function portsOf(rows: readonly TargetRow[]): number[] {
  const named = rows.find(({ own_port }) => own_port !== null)?.own_port
  const isTaken = rows.some(({ port }) => port === named)
  return named == null || isTaken ? [INTERNAL_PORT] : [...new Set([INTERNAL_PORT, named])]
}
