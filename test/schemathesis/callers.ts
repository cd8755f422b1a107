import { startSourceHosts } from '../conformance/source-hosts.ts'
import { defaultWorkspaceId, makeKey } from '../support/members.ts'
import { startTestServer } from '../support/server.ts'
import { addGithubApp } from '../support/source-hosts.ts'
import { type Examination, examine, type Findings } from './run.ts'

/** The administrator is the static token, which nothing that is asked can end. */
export const callers = ['admin', 'viewer', 'nobody'] as const
export type Caller = (typeof callers)[number]

/** Examines a server of its own, so that no caller finds what another has left; adds what the server itself logged as an error. */
export async function examineAs(caller: Caller, examination: Omit<Examination, 'url' | 'token'>): Promise<Findings> {
  const sourceHosts = startSourceHosts()
  const server = await startTestServer({ env: { CP_LOGIN_LIMIT: '1000000', ...sourceHosts.env } })
  try {
    addGithubApp(server, await defaultWorkspaceId(server))
    const token = { admin: server.adminToken, viewer: (await makeKey(server, 'viewer')).secret, nobody: undefined }[caller]
    const findings = await examine({ ...examination, url: server.url, ...(token === undefined ? {} : { token }) })
    const logged = server.logged.filter((line) => line.includes('"level":"error"'))
    return { ...findings, failures: [...findings.failures, ...logged.slice(0, 20)] }
  } finally {
    await server.close()
    await sourceHosts.close()
  }
}
