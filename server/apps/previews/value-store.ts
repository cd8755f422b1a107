import { tableOf } from '../../platform/db/table.ts'
import type { SecretRows } from '../services/env-store.ts'

interface ValueRow {
  serviceId: string
  key: string
  sealed: string
}

const values = tableOf<ValueRow>('preview_values', { serviceId: 'service_id', key: 'key', sealed: 'value_sealed' })

const purpose = ({ serviceId, key }: Pick<ValueRow, 'serviceId' | 'key'>): string => `preview value ${serviceId} ${key}`

/** What variables of a service are in its previews, in clear and by key. */
export const listPreviewValues = ({ db, sealer }: SecretRows, serviceId: string): { key: string; value: string }[] =>
  values.all(db, 'WHERE service_id = $serviceId ORDER BY key', { serviceId }).map((row) => ({
    key: row.key,
    value: sealer.open(row.sealed, purpose(row)),
  }))

/** Says what a variable is in previews, sealed under its service and key. */
export const setPreviewValue = ({ db, sealer }: SecretRows, serviceId: string, { key, value }: { key: string; value: string }): void =>
  values.put(db, { serviceId, key, sealed: sealer.seal(value, purpose({ serviceId, key })) })

/** Takes that back; false where nothing was said of the variable. */
export const deletePreviewValue = ({ db }: Pick<SecretRows, 'db'>, serviceId: string, key: string): boolean =>
  values.remove(db, { serviceId, key }) > 0
