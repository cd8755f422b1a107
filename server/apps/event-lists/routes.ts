import { AppError } from '../../../shared/error.ts'
import { type DatastoreEventQuery, isOfDatastore, wellKnownEventTypes } from '../../../shared/event.ts'
import { pageOf } from '../../http/answers/page.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import { isWithin } from '../../identity/scopes/scope.ts'
import type { AppContext } from '../context.ts'
import { requireDatastore } from '../datastores/require.ts'
import { listEvents } from '../events/list.ts'
import type { StoredEvent } from '../events/rows.ts'
import { findEvent, presentEvent } from '../events/store.ts'
import { placeOfOwner } from '../owners/owners.ts'
import { requireService } from '../services/require.ts'
import { type EventViewer, selectionFor } from './selection.ts'

type EventIds = 'listWorkspaceEvents' | 'listEvents' | 'listPostgresEvents' | 'listKeyValueEvents' | 'getEvent'

export const eventRoutes: Handlers<EventIds, AppContext> = {
  listWorkspaceEvents: ({ actor, query }, { db }) => page(listEvents(db, selectionFor(db, actor, query), query)),
  listEvents({ actor, params, query }, { db }) {
    const { id } = requireService({ db }, actor, params.serviceId)
    return page(listEvents(db, { by: 'service_id', values: [id], types: query.type ?? wellKnownEventTypes }, query))
  },
  listPostgresEvents: ({ actor, params, query }, { db }) =>
    datastorePage(db, requireDatastore({ db }, actor, params.postgresId, 'postgres').id, query),
  listKeyValueEvents: ({ actor, params, query }, { db }) =>
    datastorePage(db, requireDatastore({ db }, actor, params.keyValueId, 'key_value').id, query),
  getEvent({ actor, params }, { db }) {
    const event = findEvent(db, actor.workspaceId, params.eventId)
    if (event === undefined || !isVisible(db, actor, event))
      throw new AppError('not_found', `There is no event ${params.eventId} in this workspace. GET /v1/events lists those there are.`)
    return presentEvent(event)
  },
}

const page = (found: readonly StoredEvent[]) => pageOf('event', found.map(presentEvent), ({ id }) => [id])

const datastorePage = (db: AppContext['db'], id: string, query: DatastoreEventQuery) =>
  page(listEvents(db, { by: 'service_id', values: [id], types: query.type }, query))

/** What is of nobody, or of what is gone, is seen by callers of the whole workspace. */
const isVisible = (db: AppContext['db'], { scope, permissions }: EventViewer, { serviceId, type }: StoredEvent): boolean =>
  (scope === undefined || (serviceId !== null && isWithin(scope, placeOfOwner(db, serviceId)))) &&
  (permissions.has('datastores.read') || !isOfDatastore(type))
