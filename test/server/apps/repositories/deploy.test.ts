import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Deploy } from '../../../../shared/deploy.ts'
import { deployEnd } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { type FakePlatform, startFakePlatform } from '../../../support/fake-platform.ts'
import { type GitServer, startGitServer, type TestRepository } from '../../../support/git-server.ts'

let platform: FakePlatform
let server: GitServer
beforeAll(async () => {
  server = startGitServer()
  platform = await startFakePlatform({ CP_OUTGOING_ALLOW: '127.0.0.0/8' })
})
afterAll(async () => {
  await platform.close()
  await server.close()
})

const app = { 'package.json': '{"scripts":{"start":"serve"}}', 'server.js': 'serve' }

interface Made {
  id: string
  deployId: string
}

async function make(repository: Pick<TestRepository, 'url'>, body: Record<string, unknown> = {}): Promise<Made> {
  const name = `svc-${crypto.randomUUID().slice(0, 8)}`
  const json = {
    type: 'background_worker',
    name,
    repo: repository.url,
    serviceDetails: { envSpecificDetails: { startCommand: 'serve' } },
    ...body,
  }
  const reply = await call<{ service: { id: string }; deployId: string }>(`${platform.url}/v1/services`, {
    json,
    token: platform.adminToken,
  })
  expect({ status: reply.status, body: reply.body }).toMatchObject({ status: 201, body: { deployId: expect.stringMatching(/^dep-/) } })
  return { id: reply.body.service.id, deployId: reply.body.deployId }
}

async function deploy(id: string, json: Record<string, unknown> = {}): Promise<Deploy> {
  const reply = await call<Deploy>(`${platform.url}/v1/services/${id}/deploys`, { json, token: platform.adminToken })
  expect(reply).toMatchObject({ status: 201 })
  return await deployEnd(platform, id, reply.body.id)
}

test('a service of a repository is deployed from its branch, and its deploy tells the commit', async () => {
  const repository = server.make('first')
  const commit = repository.commit(app, { message: 'Say hello\n\nAt length', author: 'Grace' })
  const { id, deployId } = await make(repository)
  expect(await deployEnd(platform, id, deployId)).toMatchObject({
    status: 'live',
    trigger: 'api',
    commit: { id: commit, message: 'Say hello\n\nAt length', author: 'Grace', createdAt: '2026-01-02T03:04:05.000Z' },
    source: { id: expect.stringMatching(/^src-/) },
  })
  expect(readdirSync(join(platform.context.paths.fetches))).toEqual([])
})
