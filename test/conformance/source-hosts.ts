import { hookSecretOf } from '../../server/apps/source-hosts/deliveries/signature.ts'
import { installationById, installationOfApp } from '../../server/apps/source-hosts/store/installations.ts'
import { personalSecrets } from '../../server/apps/source-hosts/store/secrets.ts'
import type { sourceHostOperations } from '../../shared/operations/source-hosts.ts'
import { call } from '../support/client.ts'
import { type Github, githubApp, githubInstallation, startGithub } from '../support/github.ts'
import { registerTenant } from '../support/members.ts'
import { addGithubApp, addInstallation, signatureOf } from '../support/source-hosts.ts'
import type { SuccessCase } from './cases.ts'
import type { World } from './world.ts'

/** A GitHub, and a Gitea as far as connecting asks for it. */
export interface SourceHosts {
  env: Record<string, string>
  close(): Promise<void>
}

/** GitHub, and a Gitea of which one person is known. */
export function startSourceHosts(): SourceHosts {
  const github: Github = startGithub()
  const gitea = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ method, url }) => Response.json(answers[`${method} ${new URL(url).pathname.split('/').at(-1)}`] ?? repositories),
  })
  return {
    env: { CP_GITHUB_URL: github.url, CP_GITEA_URL: `http://127.0.0.1:${gitea.port}` },
    async close() {
      await github.close()
      await gitea.stop(true)
    },
  }
}

const repositories = ['a', 'b', 'c', 'd', 'e'].map((name) => ({
  full_name: `ada/${name}`,
  clone_url: `https://git.example.com/ada/${name}.git`,
  html_url: `https://git.example.com/ada/${name}`,
  private: true,
  default_branch: 'main',
}))

const repo = { id: 1, full_name: 'ada/a', default_branch: 'main' }
const request = {
  number: 7,
  title: 'Sell hats',
  html_url: 'https://git.example.com/ada/a/pulls/7',
  state: 'open',
  head: { ref: 'hats', sha: 'a'.repeat(40), repo },
  base: { ref: 'main', sha: 'b'.repeat(40), repo },
}

/** By the last part of their paths; everything else is a list of repositories. */
const answers: Record<string, unknown> = {
  'GET user': { id: 1, login: 'ada' },
  'GET pulls': [],
  'GET 7': request,
  'GET hooks': [],
  'POST hooks': { id: 1 },
}

const get = (path: string): SuccessCase => ({ status: 200, path })
const token = 'token-of-a-person'

const withApp =
  (make: (world: World) => SuccessCase[]): ((world: World) => SuccessCase[]) =>
  (world) => {
    addGithubApp(world.platform, world.workspaceId)
    return make(world)
  }

const installed = (make: () => SuccessCase[]) =>
  withApp(({ platform, workspaceId }) => {
    if (installationOfApp(platform.db, githubApp.id, String(githubInstallation)) === undefined)
      addInstallation(platform, { workspaceId, provider: 'github' })
    return make()
  })

async function connected({ platform }: World): Promise<string> {
  const { body } = await call<{ id: string }>(`${platform.url}/v1/gitea/installations`, { json: { token }, token: platform.adminToken })
  return body.id
}

function delivery(
  path: string,
  { secret, host, event, headers = {} }: { secret: string; host: 'github' | 'gitea'; event: string; headers?: Record<string, string> },
): SuccessCase {
  const raw = JSON.stringify({ action: 'suspend', installation: { id: githubInstallation }, at: crypto.randomUUID() })
  const signed = {
    github: { 'x-hub-signature-256': `sha256=${signatureOf(raw, secret)}` },
    gitea: { 'x-gitea-signature': signatureOf(raw, secret) },
  }[host]
  const about = { 'content-type': 'application/json', [`x-${host}-delivery`]: crypto.randomUUID(), [`x-${host}-event`]: event }
  return { status: 202, path, options: { method: 'POST', raw, headers: { ...about, ...signed, ...headers } }, isAnonymous: true }
}

/** Cases of source hosts; what becomes of them with a real one, the tests of server/apps/source-hosts show. */
export const sourceHostCases: Record<keyof typeof sourceHostOperations, (world: World) => Promise<SuccessCase[]> | SuccessCase[]> = {
  getSourceHostStatus: async (world) => {
    await connected(world)
    return [get('/v1/sourcehost/status')]
  },
  getGithubStatus: () => [get('/v1/github/status')],
  getGiteaStatus: () => [get('/v1/gitea/status')],
  listSourceHostRepos: async (world) => {
    await connected(world)
    return [get('/v1/sourcehost/repos'), get('/v1/sourcehost/repos?search=a')]
  },
  listGithubRepos: installed(() => [get('/v1/github/repos')]),
  listGiteaRepos: async (world) => {
    await connected(world)
    return [get('/v1/gitea/repos')]
  },
  getSourceHostInstall: () => [get('/v1/sourcehost/install')],
  getGithubInstall: withApp(() => [get('/v1/github/install')]),
  getGiteaInstall: () => [get('/v1/gitea/install')],
  connectGitea: () => [{ status: 201, path: '/v1/gitea/installations', options: { json: { token } } }],
  disconnectSourceHost: async (world) => [
    { status: 204, path: `/v1/sourcehost/installations/${await connected(world)}`, options: { method: 'DELETE' } },
  ],
  beginGithubApp: async (world) => {
    const { cookie } = await registerTenant(world.platform, `${crypto.randomUUID()}@example.com`)
    return [{ ...get('/v1/github/manifest'), isAnonymous: true, options: { cookie } }]
  },
  completeGithubApp: () => [{ status: 303, path: '/v1/github/manifest/callback?code=none&state=none', isAnonymous: true }],
  completeGithubInstall: () => [{ status: 303, path: '/v1/github/callback?code=none&state=none', isAnonymous: true }],
  receiveGithubDelivery: installed(() => {
    const headers = { 'x-github-hook-installation-target-id': githubApp.id }
    return [delivery('/v1/github/webhook', { secret: githubApp.webhookSecret, host: 'github', event: 'installation', headers })]
  }),
  receiveGiteaDelivery: async (world) => {
    const id = await connected(world)
    const { db, context } = world.platform
    const { webhookSecret } = personalSecrets.open(context.sealer, id, installationById(db, id)?.secretsSealed ?? '')
    const secret = hookSecretOf(webhookSecret, 'ada/a')
    return [delivery(`/v1/gitea/webhook?installation=${id}&repo=ada/a`, { secret, host: 'gitea', event: 'ping' })]
  },
}
