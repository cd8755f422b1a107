import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertRelease } from '../../../../server/apps/deploys/release-store.ts'
import { insertDeploy } from '../../../../server/apps/deploys/store.ts'
import { defaultSettings } from '../../../../server/apps/services/settings.ts'
import { setAwake, setLive } from '../../../../server/apps/services/store.ts'
import { insertInstance, updateInstance } from '../../../../server/apps/workloads/instance-store.ts'
import { buildRouteTable } from '../../../../server/edge/routing/table.ts'
import { newId } from '../../../../server/platform/id.ts'
import { insertWorkload, updateWorkload } from '../../../../server/runtime/workloads/store.ts'
import { createService } from '../../../support/apps.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

function haveRelease(serviceId: string): string {
  const { db, sealer } = server.context
  const [deployId, releaseId] = [newId('deploy'), newId('release')]
  const own = { serviceId, createdAt: 0 }
  insertDeploy(db, { ...own, id: deployId, trigger: 'api', sourceId: null, releaseId, rollbackOf: null, isCacheCleared: false })
  const launch = { runtime: 'shell', startCommand: 'true', env: {}, stack: { kind: 'host', folders: [], searchPath: [] } } as const
  const release = { ...own, id: releaseId, sourceId: '', artifact: 'a', launch, settings: defaultSettings }
  insertRelease({ db, sealer }, release, { envVars: [], secretFiles: [] })
  return deployId
}

test('an instance of a service that wakes gets requests when it goes on and not before, whatever became of it earlier', async () => {
  const { db, context } = server
  const serviceId = await createService(server, { name: 'sleeper' })
  const deployId = haveRelease(serviceId)
  setLive(db, serviceId, { deployId, generation: 0 })
  setAwake(db, serviceId, 1)
  const exits = [{ at: 0, exitCode: 1, signal: null }]
  for (const [index, id] of ['a', 'b'].entries()) {
    insertWorkload(db, { id, ownerKind: 'service', ownerId: serviceId, purpose: 'instance', phase: 'running', createdAt: 0 })
    insertInstance(db, { id, deployId, releaseId: 'rel', generation: 0, ownPort: null, port: 10_000 })
    updateInstance(db, id, { isServing: true })
    updateWorkload(db, id, { address: `10.0.0.${index}`, frozenAt: 1, exits })
  }
  const route = () => Object.values(buildRouteTable(context)).find((one) => 'serviceId' in one && one.serviceId === serviceId)
  expect(route()).toMatchObject({ kind: 'asleep' })
  updateWorkload(db, 'b', { frozenAt: null })
  expect(route()).toMatchObject({ kind: 'proxy', targets: [{ instanceId: 'b' }] })
})
