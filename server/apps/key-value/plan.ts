import { defaultKeyValuePlan, type KeyValuePlan, keyValuePlans } from '../../../shared/key-value.ts'
import type { StoredDatastore } from '../datastores/store.ts'

/** The plan of a store; the default one for a name that an older version knew. */
export const planOf = ({ plan }: Pick<StoredDatastore, 'plan'>): KeyValuePlan =>
  Object.hasOwn(keyValuePlans, plan) ? (plan as KeyValuePlan) : defaultKeyValuePlan
