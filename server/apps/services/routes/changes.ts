import type { Database } from 'bun:sqlite'
import { planNames } from '../../../../shared/plan.ts'
import type { ServiceControls } from '../../../../shared/service-controls.ts'
import { type NewEvent, recordEvent } from '../../events/store.ts'
import type { ServiceSettings } from '../settings.ts'
import type { StoredService } from '../store.ts'

type Described = Pick<StoredService, 'settings' | 'controls'>
type Change = Pick<NewEvent, 'type' | 'details'>

export function changesTold(from: Described, to: Described): Change[] {
  return [...planChange(from.settings, to.settings), ...maintenanceChange(from.controls.maintenanceMode, to.controls.maintenanceMode)]
}

/** Belongs in the transaction of the change. */
export function recordChanges(db: Database, service: StoredService, { now, ...changed }: Described & { now: number }): void {
  for (const change of changesTold(service, changed)) recordEvent(db, { owner: service, ...change, now })
}

function planChange({ plan: from }: ServiceSettings, { plan: to }: ServiceSettings): Change[] {
  const direction = planNames.indexOf(to) > planNames.indexOf(from) ? 'up' : 'down'
  return from === to ? [] : [{ type: 'plan_changed', details: { from, to, direction } }]
}

type Maintenance = ServiceControls['maintenanceMode']

function maintenanceChange(from: Maintenance, to: Maintenance): Change[] {
  return [
    ...(from.enabled === to.enabled ? [] : [{ type: 'maintenance_mode_enabled', details: { enabled: to.enabled } } as const]),
    ...(from.uri === to.uri ? [] : [{ type: 'maintenance_mode_uri_updated', details: { fromUri: from.uri, toUri: to.uri } } as const]),
  ]
}
