import { createHash } from 'node:crypto'
import { insertSource } from '../../server/apps/sources/store.ts'
import { newId } from '../../server/platform/id.ts'
import type { Deploy } from '../../shared/deploy.ts'
import type { FakePlatform } from './fake-platform.ts'
import type { TestService } from './service.ts'

/** Deploys a source that nobody uploaded and that has no files, which a builder in memory needs none of. Gives the id of the deploy. */
export async function deploySource({ context }: FakePlatform, service: TestService, content = 'an app'): Promise<string> {
  const sha256 = createHash('sha256').update(content).digest('hex')
  const createdAt = Date.now()
  const id = newId('source', createdAt)
  insertSource(context.db, { id, serviceId: service.id, sha256, format: 'tar.gz', sizeBytes: 0, fileCount: 0, createdAt })
  const { status, body } = await service.ask<Deploy>('/deploys', { json: {} })
  if (status !== 201) throw new Error(`Not deployed: ${JSON.stringify(body)}`)
  return body.id
}

/** Deploys such a source and waits until it is live. */
export async function liveSource(platform: FakePlatform, service: TestService, content?: string): Promise<Deploy> {
  const deployId = await deploySource(platform, service, content)
  await service.ends(deployId)
  return await service.reaches(deployId, 'live')
}
