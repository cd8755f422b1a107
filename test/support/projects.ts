import type { ErrorBody } from '../../shared/error.ts'
import type { Environment, Project } from '../../shared/project.ts'
import { call, type Reply } from './client.ts'
import type { TestServer } from './server.ts'

type Server = Pick<TestServer, 'url' | 'adminToken'>
interface Asked {
  method?: string
  json?: unknown
  token?: string
}

/** Calls below `/v1`, the administrator's unless a token is given. */
export const asker =
  ({ url, adminToken }: Server) =>
  <T = ErrorBody>(path: string, options: Asked = {}): Promise<Reply<T>> =>
    call<T>(`${url}/v1${path}`, { token: adminToken, ...options })

let count = 0

/** Makes a project with these environments and gives all of their ids. */
export async function makeProject(
  server: Server,
  environments: readonly (Record<string, unknown> & { name: string })[],
): Promise<{ id: string; name: string; environmentIds: string[] }> {
  const ask = asker(server)
  const { status, body } = await ask<Project>('/projects', { json: { name: `project ${++count}`, environments } })
  if (status !== 201) throw new Error(`No project: ${JSON.stringify(body)}`)
  return body
}

/** Makes an environment in a project of its own and gives its id. */
export async function makeEnvironment(server: Server, settings: Record<string, unknown> = {}): Promise<string> {
  const { environmentIds } = await makeProject(server, [{ name: 'staging', ...settings }])
  return environmentIds[0] ?? ''
}

/** An environment as it is shown now. */
export const environmentNow = async (server: Server, id: string): Promise<Environment> =>
  (await asker(server)<Environment>(`/environments/${id}`)).body
