/** What a replica or standby has as its primary has it, whoever changed that. Whoever reconciles one brings it there first. */
import type { DatastoreChange, StoredDatastore } from './store.ts'

export type Followed = Pick<StoredDatastore, 'phase' | 'plan' | 'version' | 'environmentId' | 'suspendedBy' | 'sizeGb'>
export type Following = Followed & Pick<StoredDatastore, 'generation' | 'copy' | 'growToGb'>

/** The change that is due; undefined where there is none. `roomGb` is what volumes can still have. */
export function changeToFollow(primary: Followed, follower: Following, roomGb: number): DatastoreChange | undefined {
  if (follower.phase === 'deleting') return undefined
  if (primary.phase === 'deleting') return { phase: 'deleting' }
  const change = { ...placeOf(primary, follower), ...growthOf(primary, follower, roomGb), ...startOf(primary, follower) }
  return Object.keys(change).length === 0 ? undefined : change
}

const placeOf = ({ environmentId }: Followed, follower: Following): DatastoreChange =>
  environmentId === follower.environmentId ? {} : { environmentId }

/** What is read from the primary would not fit otherwise. Disks do not shrink. */
function growthOf({ sizeGb }: Followed, follower: Following, roomGb: number): DatastoreChange {
  const missingGb = sizeGb - (follower.growToGb ?? follower.sizeGb)
  return missingGb > 0 && missingGb <= roomGb ? { growToGb: sizeGb } : {}
}

/** What takes a fresh start of the server. Files of one major version are none of another. */
function startOf({ plan, version, suspendedBy }: Followed, follower: Following): DatastoreChange {
  const { generation, copy } = follower
  const fresh = { generation: generation + 1 }
  return {
    ...(plan !== follower.plan && { plan, ...fresh }),
    ...(version !== follower.version && { version, copy: copy + 1, ...fresh }),
    ...(suspendedBy !== null && follower.suspendedBy === null && { suspendedBy, problem: null }),
    ...(suspendedBy === null && follower.suspendedBy !== null && { suspendedBy, ...fresh }),
  }
}
