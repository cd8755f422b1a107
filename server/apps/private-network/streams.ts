import type { Database } from 'bun:sqlite'
import type { Engine } from '../../engines/port/port.ts'
import type { Stream } from '../../ingress/tables/route-table.ts'
import { INTERNAL_PORT } from './internal-port.ts'
import { membersOf } from './links.ts'

/** How siblings reach a service where its engine does not lead them there: at a host of the service's own, where the ingress listens for them. */
export function streamsOf({ db, engine }: { db: Database; engine: Pick<Engine, 'siblingHost'> }): Stream[] {
  const { siblingHost } = engine
  if (siblingHost === undefined) return []
  const rowOf = db.query<TargetRow, [string]>('SELECT address, port, own_port FROM instances WHERE id = ?')
  const listening = membersOf(db).filter(({ listens }) => listens)
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
