import type { View } from '../../engines/port/workload.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { BACKUP } from './roles.ts'

/** The name that libpq looks for in a folder ends with the port. */
export const WAY_PORT = 5432

/** The folder in which a replica finds the way to its primary, by its name among materials. */
export const wayOf = ({ id }: Pick<StoredDatastore, 'id'>): string => `${id}.way`

const SLOTS = 'cpd_dpg_'

/** The place in the log of its primary that is kept for a replica. */
export const slotOf = ({ id }: Pick<StoredDatastore, 'id'>): string => `cpd_${id.replaceAll('-', '_')}`

export const isSlotOfFollower = (slot: string): boolean => slot.startsWith(SLOTS)

/** What the start of a replica is told beyond what the start of a primary is. */
export const followerEnv = (
  datastore: Pick<StoredDatastore, 'id' | 'copy'>,
  view: Pick<View, 'material' | 'secrets'>,
): Record<string, string> => ({
  CPD_PRIMARY: `host='${view.material ?? ''}' port=${WAY_PORT} user=${BACKUP} passfile='${view.secrets}/primary-password' application_name=${datastore.id}`,
  CPD_SLOT: slotOf(datastore),
  CPD_COPY: String(datastore.copy),
})
