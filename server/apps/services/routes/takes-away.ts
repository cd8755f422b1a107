import { type AnyDetailsInput, hasDetail } from '../../../../shared/service-details.ts'
import type { StoredService } from '../store.ts'

type Held = Pick<StoredService, 'type' | 'numInstances' | 'controls'>
type Wanted = Pick<AnyDetailsInput, 'numInstances' | 'maintenanceMode' | 'sleep' | 'ipAllowList'>

/** Whether a change leaves a service with less at once, as suspending it does. One instance is the least there is. */
export function takesAway({ type, numInstances, controls }: Held, { maintenanceMode, sleep, ipAllowList, ...wanted }: Wanted): boolean {
  const isScaledToOne = wanted.numInstances === 1 && numInstances > 1
  const isLaidAsleep = (sleep?.mode ?? 'off') !== 'off' && controls.sleep.mode === 'off'
  const isClosed = maintenanceMode?.enabled === true && !controls.maintenanceMode.enabled
  const isLetNobodyIn = ipAllowList?.length === 0 && controls.ipAllowList.length > 0 && hasDetail(type, 'ipAllowList')
  return isScaledToOne || isLaidAsleep || isClosed || isLetNobodyIn
}
