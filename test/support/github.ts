import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { githubOperation } from './github-schemas.ts'

export interface GithubRequest {
  method: string
  path: string
  query: URLSearchParams
  body: unknown
  authorization: string
}

type Answers = Record<string, (request: GithubRequest) => unknown>

/** A stand-in for GitHub. What it answers, and what it is sent, fits GitHub's own description of its API, or is a breach. */
export interface Github {
  url: string
  /** Settings of an app that all workspaces share. */
  sharedApp: Record<string, string>
  privateKey: string
  received: GithubRequest[]
  breaches: string[]
  /** Other fields for the answer to `METHOD path`, or another response, from now on; undefined takes it back. */
  answer(operation: string, how: ((request: GithubRequest) => unknown) | undefined): void
  close(): Promise<void>
}

export const githubApp = {
  id: '12345',
  clientId: 'Iv1.client',
  clientSecret: 'client secret',
  webhookSecret: 'webhook secret',
  slug: 'cpd-app',
}
export const githubRepositories = ['acme/shop', 'acme/blog', 'acme/docs', 'acme/api', 'acme/site']
export const githubInstallation = 99

let ownKey: string | undefined

/** Private key of the app, the same in all of a test file. */
export const githubKey = (): string => {
  ownKey ??= String(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }))
  return ownKey
}

export function startGithub(): Github {
  const dir = mkdtempSync(join(tmpdir(), 'github-'))
  const privateKey = githubKey()
  const key = createPublicKey(privateKey)
  const keyFile = join(dir, 'app.pem')
  writeFileSync(keyFile, privateKey, { mode: 0o600 })
  const received: GithubRequest[] = []
  const breaches: string[] = []
  const answers: Answers = defaultAnswers(privateKey)
  const others = new Map<string, (request: GithubRequest) => unknown>()

  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const text = await request.text()
    const authorization = request.headers.get('authorization') ?? ''
    const asked = {
      method: request.method,
      path: pathname.replace('/api/v3', ''),
      query: searchParams,
      body: text === '' ? undefined : JSON.parse(text),
      authorization,
    }
    received.push(asked)
    if (asked.path === '/login/oauth/access_token')
      return Response.json(others.get('login')?.(asked) ?? { access_token: 'ghu_user', token_type: 'bearer' })
    const operation = githubOperation(asked.method, asked.path)
    if (operation === undefined) {
      breaches.push(`no operation ${asked.method} ${asked.path}`)
      return new Response(null, { status: 404 })
    }
    const name = `${operation.method} ${operation.path}`
    if (!isAuthorized(operation.path, authorization, key)) return Response.json({ message: 'Bad credentials' }, { status: 401 })
    breach(breaches, `${name} is sent`, operation.problemOfBody(asked.body))
    const fields = (others.get(name) ?? answers[name])?.(asked)
    if (fields instanceof Response) return fields
    const full =
      Array.isArray(operation.example) || Array.isArray(fields)
        ? (fields ?? operation.example)
        : { ...(operation.example as object), ...(fields as object) }
    breach(breaches, `${name} answers`, operation.problemOfAnswer(full))
    return Response.json(full, { status: operation.status })
  }

  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
  const url = `http://127.0.0.1:${server.port}`
  return {
    url,
    sharedApp: {
      CP_GITHUB_URL: url,
      CP_GITHUB_APP_ID: githubApp.id,
      CP_GITHUB_APP_KEY_FILE: keyFile,
      CP_GITHUB_APP_CLIENT_ID: githubApp.clientId,
      CP_GITHUB_APP_CLIENT_SECRET: githubApp.clientSecret,
      CP_GITHUB_WEBHOOK_SECRET: githubApp.webhookSecret,
    },
    privateKey,
    received,
    breaches,
    answer(operation, how) {
      if (how === undefined) others.delete(operation)
      else others.set(operation, how)
    },
    async close() {
      await server.stop(true)
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function breach(breaches: string[], what: string, problem: string | undefined): void {
  if (problem !== undefined) breaches.push(`${what}: ${problem}`)
}

/** Calls about the app take a token that it has signed, calls of people theirs, all others that of an installation. */
function isAuthorized(path: string, authorization: string, key: ReturnType<typeof createPublicKey>): boolean {
  if (path.startsWith('/app-manifests/')) return true
  if (path.startsWith('/user')) return authorization === 'Bearer ghu_user'
  if (!path.startsWith('/app')) return /^Bearer ghs_\d+$/.test(authorization)
  const [, head = '', body = '', signature = ''] = /^[Bb]earer ([^.]+)\.([^.]+)\.([^.]+)$/.exec(authorization) ?? []
  return verify('RSA-SHA256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))
}

let tokens = 0
let reports = 1000

/** What the description's own example of a repository lacks, and what it is a fork of lacks as well. */
export const unforked = { language: null, parent: undefined, source: undefined, template_repository: undefined }

const repositoryFields = (name: string) => ({
  full_name: name,
  name: name.split('/')[1],
  clone_url: `https://github.com/${name}.git`,
  html_url: `https://github.com/${name}`,
  private: true,
  default_branch: 'main',
})

const defaultAnswers = (pem: string): Answers => ({
  'POST /app-manifests/{code}/conversions': () => ({
    id: Number(githubApp.id),
    slug: githubApp.slug,
    client_id: githubApp.clientId,
    client_secret: githubApp.clientSecret,
    webhook_secret: githubApp.webhookSecret,
    pem,
  }),
  'GET /app': () => ({ slug: githubApp.slug }),
  'GET /user': () => ({ id: 7, login: 'acme' }),
  'GET /user/installations': () => {
    const { example } = githubOperation('GET', '/user/installations') ?? {}
    const [one] = (example as { installations: object[] }).installations
    const account = { ...(one as { account: object }).account, id: 7, login: 'acme', type: 'User' }
    return { total_count: 1, installations: [{ ...one, id: githubInstallation, account }] }
  },
  'POST /app/installations/{installation_id}/access_tokens': () => ({
    token: `ghs_${++tokens}`,
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  }),
  'GET /installation/repositories': ({ query }) => {
    const { example } = githubOperation('GET', '/installation/repositories') ?? {}
    const [one] = (example as { repositories: object[] }).repositories
    const [page, size] = [Number(query.get('page')), Number(query.get('per_page'))]
    const names = githubRepositories.slice((page - 1) * size, page * size)
    return { total_count: githubRepositories.length, repositories: names.map((name) => ({ ...one, ...repositoryFields(name) })) }
  },
  'GET /repos/{owner}/{repo}': ({ path }) => ({ ...unforked, ...repositoryFields(path.slice('/repos/'.length)) }),
  'GET /repos/{owner}/{repo}/commits/{ref}/status': () => ({ state: 'pending', statuses: [] }),
  'GET /repos/{owner}/{repo}/commits/{ref}/check-runs': () => ({ total_count: 0, check_runs: [] }),
  'GET /repos/{owner}/{repo}/deployments': () => [],
  'POST /repos/{owner}/{repo}/deployments': () => ({ id: ++reports }),
})
