import { newestOfDeployLog } from '../../server/apps/deploys/deploy-log.ts'
import type { CredentialSource } from '../../server/apps/repositories/access/credential.ts'
import type { Deploy } from '../../shared/deploy.ts'
import { call } from './client.ts'
import { type FakePlatform, startFakePlatform } from './fake-platform.ts'
import { type GitServer, startGitServer } from './git-server.ts'
import { serviceOf, type TestService } from './service.ts'

/** A platform that deploys from repositories of a git server beside it. */
export interface GitWorld {
  platform: FakePlatform
  server: GitServer
  /** Asked in their order what lets git in; tests put theirs there. */
  credentials: CredentialSource[]
  /** Makes a service of a repository and gives it with its first deploy. */
  make(repo: string, body?: Record<string, unknown>): Promise<{ service: TestService; deployId: string }>
  /** Deploys it and waits until that has ended. */
  deploy(service: TestService, body?: Record<string, unknown>): Promise<Deploy>
  /** The log of a deploy, line by line. */
  logOf(service: TestService, deployId: string): Promise<string[]>
  close(): Promise<void>
}

/** What is built without a look at its files. */
export const anyApp = { 'package.json': '{"scripts":{"start":"serve"}}', 'server.js': 'serve' }

export async function startGitWorld(env: Record<string, string> = {}): Promise<GitWorld> {
  const server = await startGitServer()
  const platform = await startFakePlatform({ CP_OUTGOING_ALLOW: '127.0.0.0/8,::1/128', SSL_CERT_FILE: server.authorityFile, ...env })
  const credentials = platform.context.credentials as CredentialSource[]
  return {
    platform,
    server,
    credentials,
    async make(repo, body = {}) {
      const name = `svc-${crypto.randomUUID().slice(0, 8)}`
      const serviceDetails = { envSpecificDetails: { startCommand: 'serve' }, maxShutdownDelaySeconds: 1, cutoverGuard: { enabled: false } }
      const json = { type: 'background_worker', name, repo, serviceDetails, ...body }
      const reply = await call<{ service: { id: string }; deployId: string }>(`${platform.url}/v1/services`, {
        json,
        token: platform.adminToken,
      })
      if (reply.status !== 201) throw new Error(`No service: ${JSON.stringify(reply.body)}`)
      return { service: serviceOf(platform, { id: reply.body.service.id, name }), deployId: reply.body.deployId }
    },
    async deploy(service, body = {}) {
      const reply = await service.ask<Deploy>('/deploys', { json: body })
      if (reply.status !== 201) throw new Error(`Not deployed: ${JSON.stringify(reply.body)}`)
      return await service.ends(reply.body.id)
    },
    async logOf({ id: serviceId }, id) {
      const lines = await newestOfDeployLog(platform.context, { id, serviceId }, 100)
      return lines.map(({ message }) => message)
    },
    async close() {
      await platform.close()
      await server.close()
    },
  }
}
