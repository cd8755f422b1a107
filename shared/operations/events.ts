import { Type } from '@sinclair/typebox'
import { DatastoreEventQuery, Event, EventQuery, WorkspaceEventQuery } from '../event.ts'
import { defineOperations } from '../operation.ts'
import { PageOf } from '../schema.ts'

export const eventOperations = defineOperations({
  listWorkspaceEvents: {
    method: 'GET',
    path: '/v1/events',
    access: 'services.read',
    tag: 'Events',
    summary: 'What happened in a workspace',
    description:
      'Events of services and datastores that were deleted are among them, for callers of the whole workspace. With `direction=forward` the page after ' +
      'the newest event is empty until there is one: asked again with the same cursor it gives each event once.',
    query: WorkspaceEventQuery,
    responses: { 200: PageOf('event', Event) },
    errors: ['not_found'],
  },
  listEvents: {
    method: 'GET',
    path: '/v1/services/:serviceId/events',
    access: 'services.read',
    tag: 'Events',
    summary: 'What happened to a service',
    params: Type.Object({ serviceId: Type.String({ description: 'Id of the service' }) }),
    query: EventQuery,
    responses: { 200: PageOf('event', Event) },
    errors: ['not_found'],
  },
  listPostgresEvents: {
    method: 'GET',
    path: '/v1/postgres/:postgresId/events',
    access: 'datastores.read',
    tag: 'Events',
    summary: 'What happened to a database',
    params: Type.Object({ postgresId: Type.String({ description: 'Id of the database' }) }),
    query: DatastoreEventQuery,
    responses: { 200: PageOf('event', Event) },
    errors: ['not_found'],
  },
  listKeyValueEvents: {
    method: 'GET',
    path: '/v1/key-value/:keyValueId/events',
    access: 'datastores.read',
    tag: 'Events',
    summary: 'What happened to a key-value store',
    params: Type.Object({ keyValueId: Type.String({ description: 'Id of the key-value store' }) }),
    query: DatastoreEventQuery,
    responses: { 200: PageOf('event', Event) },
    errors: ['not_found'],
  },
  getEvent: {
    method: 'GET',
    path: '/v1/events/:eventId',
    access: 'services.read',
    tag: 'Events',
    summary: 'One event',
    params: Type.Object({ eventId: Type.String() }),
    responses: { 200: Event },
    errors: ['not_found'],
  },
})
