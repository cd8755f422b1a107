import { Type } from '@sinclair/typebox'
import type { EventType } from '../../../shared/event.ts'
import { isoTime } from '../../platform/db/codec.ts'
import { json } from '../../platform/db/json-column.ts'
import { tableOf } from '../../platform/db/table.ts'

/** An event as it is kept. Each was committed after all of a smaller `seq`, and none is earlier than they are. */
export interface StoredEvent {
  seq: number
  id: string
  workspaceId: string
  /** Id of a service, database or key-value store: Render's field of this name holds all three. Null for what is of none. */
  serviceId: string | null
  serviceName: string | null
  environmentId: string | null
  type: EventType
  details: Record<string, unknown>
  timestamp: string
}

export const events = tableOf<StoredEvent>('events', {
  seq: 'seq',
  id: 'id',
  workspaceId: 'workspace_id',
  serviceId: 'service_id',
  serviceName: 'service_name',
  environmentId: 'environment_id',
  type: { column: 'type', as: { read: (stored) => String(stored) as EventType, write: (type) => type } },
  details: { column: 'details', as: json({ schema: Type.Record(Type.String(), Type.Unknown()) }) },
  timestamp: { column: 'created_at', as: isoTime },
})
