import { afterAll, beforeAll, expect, test } from 'vitest'
import { onEvents } from '../../../../server/apps/events/wake.ts'
import { findPreview } from '../../../../server/apps/previews/store.ts'
import { createPreviewWork, type PreviewWork } from '../../../../server/apps/previews/work.ts'
import { afterChange } from '../../../../server/platform/db/change.ts'
import { repositoryKey } from '../../../../shared/repository.ts'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { idleWork } from '../../../support/idle-parts.ts'
import { defaultWorkspaceId } from '../../../support/members.ts'
import { addRequest } from '../../../support/previews.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

const repo = 'https://git.example.com/ada/shop'
const ENOUGH_RUNS = 20

let server: TestServer
let work: PreviewWork
let asked: string[] = []
const end = new AbortController()

/** The work as the server has it: what happens in a workspace has the requests of its services seen to. */
beforeAll(async () => {
  const poke = (kind: string, id?: string) => afterChange(server.db, () => kind === 'previews' && work.poke(id ?? ''))
  server = await startTestServer({ parts: { work: { ...idleWork, poke } } })
  work = createPreviewWork({ ...server.context, after: () => () => {}, stopping: end.signal })
  onEvents(server.db, (workspaceId) => {
    asked.push(workspaceId)
    if (asked.length > ENOUGH_RUNS) end.abort()
    work.ofWorkspace(workspaceId)
  })
})
afterAll(async () => {
  end.abort()
  await server?.close()
})

/** The first deploy of the parent, and one of a preview. */
const MOST_DEPLOYS = 2

test('what a quota refuses again and again keeps the server from nothing else, and leaves no event', async () => {
  const quota = `${server.url}/v1/quotas/${await defaultWorkspaceId(server)}`
  expect((await call(quota, { method: 'PATCH', json: { deploys: MOST_DEPLOYS }, token: server.adminToken })).status).toBe(200)
  const serviceDetails = { previews: { generation: 'automatic' } }
  const parentId = await createService(server, { name: 'shop', repo, branch: 'main', autoDeploy: 'no', serviceDetails })
  for (const number of [1, 2]) addRequest(server, parentId, { number, repository: repositoryKey(repo) ?? '', isFork: false })
  asked = []
  work.pokeAll()
  await work.settled()
  expect(end.signal.aborted).toBe(false)
  const [first, second] = [2, 1].map((number) => findPreview(server.db, { parentId, number }))
  expect(first?.serviceId).not.toBeNull()
  expect(second).toMatchObject({ serviceId: null, problem: expect.stringContaining('quota "deploys"') })
  const before = asked.length
  work.pokeAll()
  await work.settled()
  expect(asked).toHaveLength(before)
})
