import { createHmac } from 'node:crypto'
import { createHookWork, type HookWork } from '../../server/apps/source-hosts/hooks/work.ts'
import { type CallOptions, call, type Reply } from './client.ts'
import { freePorts } from './free-ports.ts'
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
