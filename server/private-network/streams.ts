import type { Database } from 'bun:sqlite'
import { loopbackAddress, SHARED_ADDRESS } from '../engines/loopback-address.ts'
import type { Stream } from '../ingress/route-table.ts'
import { INTERNAL_PORT } from './internal-port.ts'
import { listeningServices } from './links.ts'

/**
 * How siblings reach a service where all instances share the machine's network: at a loopback address of the service's own, from which
 * the ingress leads to the ports of its instances. Empty where instances have networks of their own.
 */
export function streamsOf({ db, engine }: { db: Database; engine: { hasOwnNetworks: boolean } }): Stream[] {
  if (engine.hasOwnNetworks) return []
  const portOf = db.query<{ address: string | null; port: number }, [string]>('SELECT address, port FROM instances WHERE id = ?')
  return listeningServices(db).flatMap(({ uid, instanceIds }) => {
    const targets = instanceIds.flatMap((instanceId) => {
      const row = portOf.get(instanceId)
      return row === null ? [] : [{ instanceId, host: row.address ?? SHARED_ADDRESS, port: row.port }]
    })
    return targets.length === 0 ? [] : [{ listen: { host: loopbackAddress(uid), port: INTERNAL_PORT }, targets }]
  })
}
