import { AppError } from '../../../shared/error.ts'
import { wellKnownEventTypes } from '../../../shared/event.ts'
import { pageOf } from '../../http/answers/page.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import type { Viewer } from '../../identity/scopes/protection.ts'
import { isWithin } from '../../identity/scopes/scope.ts'
import type { AppContext } from '../context.ts'
import { listEvents } from '../events/list.ts'
import type { StoredEvent } from '../events/rows.ts'
import { findEvent, presentEvent } from '../events/store.ts'
import { requireService } from '../services/require.ts'
import { placeOf } from '../services/store.ts'
import { selectionFor } from './selection.ts'

export const eventRoutes: Handlers<'listWorkspaceEvents' | 'listEvents' | 'getEvent', AppContext> = {
  listWorkspaceEvents: ({ actor, query }, { db }) => page(listEvents(db, selectionFor(db, actor, query), query)),
  listEvents({ actor, params, query }, { db }) {
    const { id } = requireService({ db }, actor, params.serviceId)
    return page(listEvents(db, { by: 'service_id', values: [id], types: query.type ?? wellKnownEventTypes }, query))
  },
  getEvent({ actor, params }, { db }) {
    const event = findEvent(db, actor.workspaceId, params.eventId)
    if (event === undefined || !isVisible(db, actor, event))
      throw new AppError('not_found', `There is no event ${params.eventId} in this workspace. GET /v1/events lists those there are.`)
    return presentEvent(event)
  },
}

const page = (found: readonly StoredEvent[]) => pageOf('event', found.map(presentEvent), ({ id }) => [id])

/** What is of no service, or of one that is gone, is seen by callers of the whole workspace. */
const isVisible = (db: AppContext['db'], viewer: Viewer, { serviceId }: StoredEvent): boolean =>
  viewer.scope === undefined || (serviceId !== null && isWithin(viewer.scope, placeOf(db, serviceId)))
