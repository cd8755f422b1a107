import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogPage } from '../../shared/log.ts'
import type { Service } from '../../shared/service.ts'
import { type GitServer, startGitServer, type TestRepository } from '../support/git-server.ts'
import { median, pathOf, type RunningServer, startServer } from './running-server.ts'

const MIB = 1024 * 1024
const ROUNDS = 7
const GOAL = 1.2
const COMMITS = 100
const FILES = 1000
const ROUND_BYTES = 2 * MIB
const FILE_BYTES = 8 * 1024
const POLL_MS = 20
const PATIENCE_MS = 60_000

/** One commit out of a history of 200 MB, fetched and kept as a source, against `git clone --depth 1` of it; both over https from the same server. */
export async function run(): Promise<void> {
  const box = mkdtempSync(join(tmpdir(), 'cpd-bench-fetch-'))
  const host = await startGitServer()
  const server = await startServer({ CP_OUTGOING_ALLOW: '127.0.0.0/8,::1/128', SSL_CERT_FILE: host.authorityFile })
  try {
    const repository = await withHistory(host)
    const [ours, clones]: [number[], number[]] = [[], []]
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(await fetchMs(server, repository, `round-${round}`))
      clones.push(await timed(() => clone(host, repository, join(box, String(round)))))
    }
    const [fetch, peer] = [median(ours), median(clones)]
    const heldKib = Number(/size-pack: (\d+)/.exec(repository.git(['count-objects', '-v']))?.[1])
    console.log(
      `${Math.round(heldKib / 1024)} MB of history: fetched and kept in ${fetch.toFixed(0)} ms, ` +
        `git clone --depth 1 ${peer.toFixed(0)} ms, ratio ${(fetch / peer).toFixed(2)} (goal ${GOAL}: ${fetch / peer <= GOAL ? 'met' : 'MISSED'})`,
    )
  } finally {
    rmSync(box, { recursive: true, force: true })
    await server.stop()
    await host.close()
  }
}

/** Files that stay, and one that each commit writes anew and no compression makes smaller. */
async function withHistory(server: GitServer): Promise<TestRepository> {
  const repository = server.make('history')
  repository.git(['config', 'core.compression', '0'])
  const importing = Bun.spawn(['git', '-C', repository.folder, 'fast-import', '--quiet'], { stdin: 'pipe' })
  for (let commit = 0; commit < COMMITS; commit++) {
    const files = commit === 0 ? Array.from({ length: FILES }, (_, at) => ({ path: `src/${at % 50}/${at}.txt`, content: words() })) : []
    importing.stdin.write(`commit refs/heads/main\ncommitter Ada <ada@example.com> ${1_760_000_000 + commit} +0000\ndata 6\nChange\n`)
    for (const { path, content } of [...files, { path: 'data.bin', content: randomBytes(ROUND_BYTES) }]) {
      importing.stdin.write(`M 100644 inline ${path}\ndata ${content.length}\n`)
      importing.stdin.write(content)
      importing.stdin.write('\n')
    }
    await importing.stdin.flush()
  }
  await importing.stdin.end()
  if ((await importing.exited) !== 0) throw new Error('git fast-import failed.')
  return repository
}

const words = (): Buffer =>
  Buffer.from(
    randomBytes(FILE_BYTES / 4)
      .toString('base64')
      .padEnd(FILE_BYTES, ' word\n'),
  )

/** Between the two lines of the deploy's log that tell of it; each time for another service, as a commit that is kept already is not fetched. */
async function fetchMs(server: RunningServer, { url }: TestRepository, name: string): Promise<number> {
  const body = JSON.stringify({ type: 'static_site', name, repo: url, branch: 'main', serviceDetails: { publishPath: '.' } })
  const { service } = await server.call<{ service: Service }>(pathOf('createService'), { method: 'POST', body })
  const patience = AbortSignal.timeout(PATIENCE_MS)
  for (;;) {
    patience.throwIfAborted()
    const { logs } = await server.call<LogPage>(`/v1/logs?resource=${service.id}&limit=100`)
    const at = (words: string) => Date.parse(logs.find(({ message }) => message.startsWith(words))?.timestamp ?? '')
    const tookMs = at('==> Deploying commit') - at('==> Fetching')
    if (!Number.isNaN(tookMs)) return tookMs
    await Bun.sleep(POLL_MS)
  }
}

async function clone({ authorityFile }: GitServer, { url }: TestRepository, into: string): Promise<void> {
  const env = { PATH: '/usr/bin:/bin', GIT_SSL_CAINFO: authorityFile, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const child = Bun.spawn(['git', 'clone', '--quiet', '--depth', '1', url, into], { env, stderr: 'inherit' })
  if ((await child.exited) !== 0) throw new Error('git clone failed.')
}

async function timed(act: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await act()
  return performance.now() - begun
}

if (import.meta.main) await run()
