import { afterAll, beforeAll, expect, test } from 'vitest'
import { hooksOf } from '../../../../server/apps/source-hosts/store/hooks.ts'
import { createService } from '../../../support/apps.ts'
import { addInstallation, type SourceHostServer, startSourceHostServer } from '../../../support/source-hosts.ts'

const HERE = 'https://127.0.0.1:9'
const ELSEWHERE = 'https://127.0.0.2:9'
let world: SourceHostServer
beforeAll(async () => {
  world = await startSourceHostServer({ CP_GITEA_URL: HERE })
})
afterAll(() => world.close())

test('repositories get their webhooks though another connection is of a host that settings no longer name', async () => {
  const { server, workspaceId, hooks } = world
  const former = addInstallation(server, { workspaceId, provider: 'gitea' })
  server.db.query('UPDATE source_host_installations SET url = ?, external_id = ? WHERE id = ?').run(ELSEWHERE, 'former', former)
  const current = addInstallation(server, { workspaceId, provider: 'gitea' })
  await createService(server, { name: 'moved', repo: `${ELSEWHERE}/acme/blog` })
  await createService(server, { name: 'here', repo: `${HERE}/acme/shop` })
  hooks.pokeAll()
  await hooks.settled()
  expect(hooksOf(server.db, current)).toMatchObject([{ repo: 'acme/shop', attempts: 1, problem: expect.any(String) }])
  expect(hooksOf(server.db, former)).toEqual([])
})
