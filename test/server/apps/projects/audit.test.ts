import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AuditEntry } from '../../../../shared/audit.ts'
import { createService } from '../../../support/apps.ts'
import { asker, makeProject } from '../../../support/projects.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
let ask: ReturnType<typeof asker>
beforeAll(async () => {
  server = await startTestServer()
  ask = asker(server)
})
afterAll(() => server.close())

const entriesOf = async (target: string) => {
  const { body } = await ask<{ auditLog: AuditEntry }[]>('/audit-logs?limit=100')
  return body
    .map(({ auditLog }) => auditLog)
    .filter((entry) => entry.target === target && entry.status === 'success')
    .map(({ event, metadata: { changes } }) => ({ event, ...(changes !== undefined && { changes }) }))
    .reverse()
}

test('every change of a project and its environments is written down with what was before', async () => {
  const { id, name, environmentIds } = await makeProject(server, [{ name: 'production' }])
  const [environmentId = ''] = environmentIds
  const serviceId = await createService(server, { name: 'moved' })
  const change = (path: string, method: string, json?: unknown) => ask(path, { method, ...(json === undefined ? {} : { json }) })
  await change(`/projects/${id}`, 'PATCH', { name: 'renamed' })
  await change(`/environments/${environmentId}`, 'PATCH', { protectedStatus: 'protected', networkIsolationEnabled: true })
  await change(`/environments/${environmentId}/resources`, 'POST', { resourceIds: [serviceId] })
  await change(`/environments/${environmentId}/resources?resourceIds=${serviceId}`, 'DELETE')
  await change(`/environments/${serviceId}/resources?resourceIds=${serviceId}`, 'DELETE')
  await change(`/environments/${environmentId}`, 'DELETE')
  await change(`/projects/${id}`, 'DELETE')
  expect(await entriesOf(id)).toEqual([
    { event: 'project.created' },
    { event: 'project.updated', changes: { name: { before: name, after: 'renamed' } } },
    { event: 'project.deleted' },
  ])
  expect(await entriesOf(environmentId)).toEqual([
    {
      event: 'environment.updated',
      changes: {
        protectedStatus: { before: 'unprotected', after: 'protected' },
        networkIsolationEnabled: { before: false, after: true },
      },
    },
    { event: 'environment.resources_added', changes: { serviceIds: { before: [], after: [serviceId] } } },
    { event: 'environment.resources_removed', changes: { serviceIds: { before: [serviceId], after: [] } } },
    { event: 'environment.deleted' },
  ])
})
