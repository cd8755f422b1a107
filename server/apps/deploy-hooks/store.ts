import type { Database } from 'bun:sqlite'
import { tableOf } from '../../platform/db/table.ts'

export interface StoredHook {
  serviceId: string
  tokenHash: string
  tokenSealed: string
  createdAt: number
}

const hooks = tableOf<StoredHook>('deploy_hooks', {
  serviceId: 'service_id',
  tokenHash: 'token_hash',
  tokenSealed: 'token_sealed',
  createdAt: 'created_at',
})

/** The hook of a service; undefined where nobody has asked for one yet. */
export const hookOf = (db: Database, serviceId: string): StoredHook | undefined =>
  hooks.get(db, 'WHERE service_id = $serviceId', { serviceId })

/** Which service a token deploys, by the token's hash; undefined where it is nobody's. */
export const serviceOfHook = (db: Database, tokenHash: string): string | undefined =>
  hooks.get(db, 'WHERE token_hash = $tokenHash', { tokenHash })?.serviceId

/** Sets the hook of a service, in place of the one it had. */
export const putHook = (db: Database, hook: StoredHook): void => hooks.put(db, hook)
