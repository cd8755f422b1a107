import type { Database } from 'bun:sqlite'
import { loopbackAddress } from '../../engines/port/loopback-address.ts'
import type { Capabilities } from '../../engines/port/port.ts'
import type { Stream } from '../../ingress/tables/route-table.ts'
import { INTERNAL_PORT } from './internal-port.ts'
import { listeningOwners } from './links.ts'

/**
 * How siblings reach a service where all instances share the machine's network: at a loopback address of the service's own, from which
 * the ingress leads to the ports of its instances. Empty where instances have networks of their own.
 */
export function streamsOf({ db, engine }: { db: Database; engine: { capabilities: Pick<Capabilities, 'ownNetworks'> } }): Stream[] {
  if (engine.capabilities.ownNetworks) return []
  const rowOf = db.query<TargetRow, [string]>('SELECT address, port, own_port FROM instances WHERE id = ?')
  return listeningOwners(db).flatMap(({ uid, instanceIds }) => {
    const rows = instanceIds.flatMap((instanceId) => {
      const row = rowOf.get(instanceId)
      return row?.address == null ? [] : [{ row, target: { instanceId, host: row.address, port: row.port } }]
    })
    const targets = rows.map(({ target }) => target)
    const ports = targets.length === 0 ? [] : portsOf(rows.map(({ row }) => row))
    return ports.map((port) => ({ listen: { host: loopbackAddress(uid), port }, targets }))
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
