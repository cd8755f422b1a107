import type { Database } from 'bun:sqlite'
import { tableOf } from '../../../platform/db/table.ts'

export interface StoredDeployKey {
  serviceId: string
  publicKey: string
  privateKeySealed: string
  createdAt: number
}

export interface StoredHostKey {
  serviceId: string
  /** Name in known_hosts: `[host]:port` where the port is another than 22. */
  host: string
  publicKey: string
  pinnedAt: number
}

const keys = tableOf<StoredDeployKey>('deploy_keys', {
  serviceId: 'service_id',
  publicKey: 'public_key',
  privateKeySealed: 'private_key_sealed',
  createdAt: 'created_at',
})

const hostKeys = tableOf<StoredHostKey>('git_host_keys', {
  serviceId: 'service_id',
  host: 'host',
  publicKey: 'public_key',
  pinnedAt: 'pinned_at',
})

const MOST_HOSTS = 20

/** The deploy key of a service; undefined where none was asked for yet. */
export const deployKeyOf = (db: Database, serviceId: string): StoredDeployKey | undefined =>
  keys.get(db, 'WHERE service_id = $serviceId', { serviceId })

/** Sets the deploy key of a service, in place of the one it had. */
export const putDeployKey = (db: Database, key: StoredDeployKey): void => keys.put(db, key)

/** Keys of servers that a service has come to, by their hosts. */
export const hostKeysOf = (db: Database, serviceId: string): StoredHostKey[] =>
  hostKeys.all(db, 'WHERE service_id = $serviceId ORDER BY host', { serviceId })

/** The key that a host has shown to a service at first; undefined where the service has not been there. */
export const hostKeyOf = (db: Database, of: Pick<StoredHostKey, 'serviceId' | 'host'>): StoredHostKey | undefined =>
  hostKeys.get(db, 'WHERE service_id = $serviceId AND host = $host', { ...of })

/** Keeps the key of a host that the service had not been to, and lets go of those it was at long ago. Belongs in a transaction. */
export function pinHostKey(db: Database, key: StoredHostKey): void {
  hostKeys.insert(db, key)
  db.query(
    `DELETE FROM git_host_keys WHERE service_id = $serviceId AND host NOT IN
     (SELECT host FROM git_host_keys WHERE service_id = $serviceId ORDER BY pinned_at DESC, host = $host DESC LIMIT ${MOST_HOSTS})`,
  ).run({ serviceId: key.serviceId, host: key.host })
}

/** Has a service trust the key that each host shows next. */
export const removeHostKeys = (db: Database, serviceId: string): void => void hostKeys.remove(db, { serviceId })
