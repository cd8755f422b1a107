import { createHmac } from 'node:crypto'
import { createHookWork, type HookWork } from '../../server/apps/source-hosts/hooks/work.ts'
import { giteaReach, githubReach } from '../../server/apps/source-hosts/providers/reach.ts'
import { appOf, keepApp } from '../../server/apps/source-hosts/store/apps.ts'
import { insertInstallation } from '../../server/apps/source-hosts/store/installations.ts'
import { appSecrets, personalSecrets } from '../../server/apps/source-hosts/store/secrets.ts'
import { newId } from '../../server/platform/id.ts'
import type { SourceHostName } from '../../shared/source-host.ts'
import { type CallOptions, call, type Reply } from './client.ts'
import { freePorts } from './free-ports.ts'
import { githubApp, githubInstallation, githubKey } from './github.ts'
import { idleWork } from './idle-parts.ts'
import { defaultWorkspaceId } from './members.ts'
import { startTestServer, type TestServer } from './server.ts'

/** A server that is connected to source hosts, at the URL that it tells them. */
export interface SourceHostServer {
  server: TestServer
  workspaceId: string
  api<T = Record<string, unknown>>(path: string, options?: CallOptions): Promise<Reply<T>>
  hooks: HookWork
  close(): Promise<void>
}

export async function startSourceHostServer(env: Record<string, string>): Promise<SourceHostServer> {
  const [port = 0] = freePorts(1)
  const listen = `127.0.0.1:${port}`
  let hooks: HookWork | undefined
  const work = {
    ...idleWork,
    poke(kind: string, id?: string) {
      if (kind === 'sourceHost') hooks?.poke(id ?? '')
      if (kind === 'service') hooks?.ofServices.poke(id ?? '')
    },
  }
  const server = await startTestServer({ env: { CP_LISTEN: listen, ...env }, parts: { publicUrl: `http://${listen}`, work } })
  hooks = createHookWork(server.context)
  return {
    server,
    workspaceId: await defaultWorkspaceId(server),
    hooks,
    api: (path, options = {}) => call(server.url + path, { token: server.adminToken, ...options }),
    async close() {
      await hooks?.settled()
      await server.close()
    },
  }
}

/** The signature of a body, as GitHub and Gitea make it. */
export const signatureOf = (body: string, secret: string): string => createHmac('sha256', secret).update(body).digest('hex')

/** Connects a workspace to an account, without asking the host; returns its id. */
export function addInstallation(
  { db, context }: TestServer,
  { workspaceId, provider }: { workspaceId: string; provider: SourceHostName },
): string {
  const id = newId('sourceHostInstallation')
  const { url } = provider === 'github' ? githubReach(context) : (giteaReach(context) ?? { url: 'https://git.example.com' })
  const of = { id, workspaceId, provider, url, account: 'acme', problem: null, createdAt: Date.now(), updatedAt: Date.now() }
  const secretsSealed = personalSecrets.seal(context.sealer, id, { token: 'token', webhookSecret: 'secret' })
  if (provider === 'gitea') insertInstallation(db, { ...of, appId: '', externalId: id, secretsSealed })
  else insertInstallation(db, { ...of, appId: githubApp.id, externalId: String(githubInstallation), secretsSealed: null })
  return id
}

/** Gives a workspace the app of the stand-in for GitHub, where it has none. */
export function addGithubApp({ db, context }: TestServer, workspaceId: string): void {
  if (appOf(db, workspaceId) !== undefined) return
  const { id: appId, clientId, clientSecret, webhookSecret } = githubApp
  const secretsSealed = appSecrets.seal(context.sealer, appId, { privateKey: githubKey(), clientSecret, webhookSecret })
  keepApp(db, { workspaceId, appId, clientId, secretsSealed, createdAt: Date.now() })
}
