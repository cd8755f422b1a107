import type { TeamInviteCreated } from '../../../../shared/team.ts'
import { type CallOptions, call, type Reply } from '../../../support/client.ts'
import { memberPassword } from '../../../support/members.ts'
import type { TestServer } from '../../../support/server.ts'

/** Who sends a request: somebody's session, where there is one, else the token of a key. */
export type By = { token: string } | { cookie: string }

/** Sends a request to /v1 as somebody, with what a page of the server sends along with a session. */
export function send<T = Record<string, unknown>>(server: TestServer, path: string, by: By, options: CallOptions = {}): Promise<Reply<T>> {
  if (!('cookie' in by)) return call<T>(`${server.url}/v1${path}`, { ...options, token: by.token })
  return call<T>(`${server.url}/v1${path}`, { ...options, cookie: by.cookie, headers: { origin: server.url, ...options.headers } })
}

/** Invites somebody, by the administrator unless said otherwise. @throws when it does not succeed. */
export async function invite(
  server: TestServer,
  json: { email: string; role: string; scope?: unknown },
  by: By = { token: server.adminToken },
): Promise<TeamInviteCreated> {
  const reply = await send<TeamInviteCreated>(server, '/team-invites', by, { json })
  if (reply.status !== 201) throw new Error(`Not invited: ${JSON.stringify(reply.body)}`)
  return reply.body
}

/** Accepts with a new account. */
export const acceptAsNew = (
  server: TestServer,
  token: string,
  changes: Record<string, unknown> = {},
): Promise<Reply<{ user: { id: string }; workspace: { id: string } }>> =>
  call(`${server.url}/v1/team-invites/accept`, { json: { token, name: 'Ada', password: memberPassword, ...changes } })
