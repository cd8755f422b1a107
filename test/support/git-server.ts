import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { makeCertificate } from './certificates.ts'

/** Repositories of real git, served by its own `git http-backend` over https on loopback. */
export interface GitServer {
  url: string
  folder: string
  /** File with the certificate of its authority. */
  authorityFile: string
  /** What git was told as Authorization, request by request; undefined where nothing. */
  authorizations: (string | undefined)[]
  /** How often a pack was asked for. */
  fetches: number
  /** Credentials that private repositories are read with, `user:password`, by their names. */
  private: Map<string, string>
  /** Answers requests in git's place; undefined for one has git answer it. */
  answer: ((request: Request) => Response | undefined) | undefined
  make(name: string): TestRepository
  close(): Promise<void>
}

export interface TestRepository {
  url: string
  folder: string
  /** Commits these files, and nothing else, to a branch; gives the commit's id. */
  commit(files: Record<string, string | Uint8Array>, options?: { branch?: string; message?: string; author?: string }): string
  git(args: readonly string[], input?: string | Uint8Array): string
}

const identity = {
  ...{ GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com', GIT_AUTHOR_DATE: '2026-01-02T03:04:05Z' },
  ...{ GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com', GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z' },
}
const plainEnv = { PATH: '/usr/bin:/bin', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }

export async function startGitServer(): Promise<GitServer> {
  const folder = mkdtempSync(join(tmpdir(), 'cpd-test-git-'))
  const authority = await makeCertificate({})
  const { certificate: cert, privateKey: key } = await makeCertificate({ names: ['localhost'], issuer: authority })
  const authorityFile = join(folder, 'authority.pem')
  writeFileSync(authorityFile, authority.certificate)
  const server: Omit<GitServer, 'url' | 'make' | 'close'> = {
    folder,
    authorityFile,
    authorizations: [],
    fetches: 0,
    private: new Map(),
    answer: undefined,
  }
  const http = Bun.serve({ hostname: '127.0.0.1', port: 0, tls: { cert, key }, fetch: (request) => serve(given, request) })
  const url = `https://localhost:${http.port}`
  const given: GitServer = Object.assign(server, {
    url,
    make: (name: string) => makeRepository(join(folder, name), `${url}/${name}`),
    async close() {
      await http.stop(true)
      rmSync(folder, { recursive: true, force: true })
    },
  })
  return given
}

async function serve(server: GitServer, request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const authorization = request.headers.get('authorization') ?? undefined
  server.authorizations.push(authorization)
  if (pathname.endsWith('git-upload-pack')) server.fetches += 1
  const given = server.answer?.(request)
  if (given !== undefined) return given
  const wanted = server.private.get(pathname.split('/')[1] ?? '')
  if (wanted !== undefined && authorization !== `Basic ${Buffer.from(wanted).toString('base64')}`)
    return new Response('No.', { status: 401, headers: { 'www-authenticate': 'Basic realm="git"' } })
  const child = Bun.spawn(['git', 'http-backend'], {
    env: {
      ...plainEnv,
      GIT_PROJECT_ROOT: server.folder,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers.get('content-type') ?? '',
      HTTP_CONTENT_ENCODING: request.headers.get('content-encoding') ?? '',
      GIT_PROTOCOL: request.headers.get('git-protocol') ?? '',
    },
    stdin: new Uint8Array(await request.arrayBuffer()),
    stdout: 'pipe',
    stderr: 'ignore',
  })
  return answerOf(new Uint8Array(await new Response(child.stdout).arrayBuffer()))
}

function answerOf(output: Uint8Array<ArrayBuffer>): Response {
  const end = Buffer.from(output).indexOf('\r\n\r\n')
  const lines = Buffer.from(output.subarray(0, end)).toString().split('\r\n')
  const headers = lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as [string, string])
  const status = Number(headers.find(([name]) => name === 'Status')?.[1]?.split(' ')[0] ?? 200)
  return new Response(output.slice(end + 4), { status, headers: headers.filter(([name]) => name !== 'Status') })
}

export function makeRepository(folder: string, url: string): TestRepository {
  const run = (args: readonly string[], { input, env = {} }: { input?: string | Uint8Array; env?: Record<string, string> } = {}) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(['git', '-C', folder, ...args], {
      env: { ...plainEnv, ...identity, ...env },
      stdin: input === undefined ? 'ignore' : Buffer.from(input),
    })
    if (exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
    return stdout.toString().trim()
  }
  mkdirSync(folder, { recursive: true })
  run(['init', '--quiet', '--bare', '--initial-branch=main'])
  run(['config', 'uploadpack.allowFilter', 'true'])
  return {
    url,
    folder,
    git: (args, input) => run(args, input === undefined ? {} : { input }),
    commit(files, { branch = 'main', message = 'Change', author = 'Ada' } = {}) {
      const tree = treeOf(files, run)
      const parent = run(['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`])
      const parents = parent === '' ? [] : ['-p', parent]
      const id = run(['commit-tree', tree, ...parents, '-m', message], { env: { GIT_AUTHOR_NAME: author } })
      run(['update-ref', `refs/heads/${branch}`, id])
      return id
    },
  }
}

function treeOf(files: Record<string, string | Uint8Array>, run: (args: readonly string[]) => string): string {
  const work = mkdtempSync(join(tmpdir(), 'cpd-test-git-work-'))
  try {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(work, path)), { recursive: true })
      writeFileSync(join(work, path), content)
    }
    run([`--work-tree=${work}`, 'read-tree', '--empty'])
    run([`--work-tree=${work}`, 'add', '--all', '--force'])
    return run(['write-tree'])
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
