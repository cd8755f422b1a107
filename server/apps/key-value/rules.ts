import type { KeyValuePlan, MaxmemoryPolicy, PersistenceMode } from '../../../shared/key-value.ts'
import type { StoredDatastore } from '../datastores/store.ts'

export interface StoreSettings {
  plan: KeyValuePlan
  maxmemoryPolicy: MaxmemoryPolicy
  persistenceMode: PersistenceMode
  ipAllowList: StoredDatastore['ipAllowList']
}

const kept: readonly PersistenceMode[] = ['off', 'snapshot', 'journal_snapshot']

/** Whether a change may take something from who uses a store: a restart, less room, keys that go, addresses that are let in no more. */
export function cutsOff(before: StoreSettings, after: StoreSettings): boolean {
  const isReplanned = before.plan !== after.plan
  const keepsLess = kept.indexOf(after.persistenceMode) < kept.indexOf(before.persistenceMode)
  const evicts = before.maxmemoryPolicy === 'noeviction' && after.maxmemoryPolicy !== 'noeviction'
  const allowed = new Set(after.ipAllowList.map(({ cidrBlock }) => cidrBlock))
  return isReplanned || keepsLess || evicts || before.ipAllowList.some(({ cidrBlock }) => !allowed.has(cidrBlock))
}
