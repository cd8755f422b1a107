import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Belongings } from '../../../../server/apps/belongings.ts'
import type { AppContext } from '../../../../server/apps/context.ts'
import { deleteService, removeService } from '../../../../server/apps/services/delete.ts'
import { findService, type StoredService, serviceById } from '../../../../server/apps/services/store.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { makeService } from '../../../support/service.ts'

let server: TestServer
let service: StoredService
beforeEach(async () => {
  server = await startTestServer()
  const { id } = await makeService(server, { name: 'doomed' })
  service = serviceById(server.db, id) as StoredService
})
afterEach(() => server.close())

const having = (belongings: readonly Belongings<AppContext>[]): AppContext => ({ ...server.context, belongings })
const isThere = () => findService(server.db, service.workspaceId, service.id) !== undefined

test('every slice lets go of a service in the one transaction that deletes it, in the order of the list', () => {
  const released: unknown[] = []
  const context = having([
    { release: ({ db }, owner) => released.push(['first', owner, db.inTransaction]) },
    {},
    { release: (_, { id }) => released.push(['second', id]) },
  ])
  deleteService(context, service)
  const { id, workspaceId } = service
  expect(released).toEqual([
    ['first', { kind: 'service', id, workspaceId }, true],
    ['second', id],
  ])
  expect(isThere()).toBe(false)
})

test('a service that one slice does not let go of stays', () => {
  const context = having([
    {
      release() {
        throw new Error('still needed')
      },
    },
  ])
  expect(() => deleteService(context, service)).toThrow('still needed')
  expect(isThere()).toBe(true)
})

test('the row goes when every slice has removed what it has, and all of them are asked again after a failure', async () => {
  const removed: string[] = []
  let isBroken = true
  const context = having([
    { remove: async () => void removed.push('first') },
    { release() {} },
    {
      async remove() {
        if (isBroken) throw new Error('busy')
        removed.push('second')
      },
    },
  ])
  deleteService(context, service)
  await expect(removeService(context, service)).rejects.toThrow('busy')
  expect(serviceById(server.db, service.id)).toBeDefined()
  isBroken = false
  await removeService(context, service)
  expect(removed).toEqual(['first', 'first', 'second'])
  expect(serviceById(server.db, service.id)).toBeUndefined()
})
