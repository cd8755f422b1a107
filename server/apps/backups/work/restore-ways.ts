import type { DatastoreKind } from '../../datastores/store.ts'
import { restorePostgres } from './restore-postgres.ts'
import { restoreStore } from './restore-store.ts'
import type { RestoreWay } from './restore-way.ts'

export const restoreWays: Readonly<Record<DatastoreKind, RestoreWay>> = { postgres: restorePostgres, key_value: restoreStore }
