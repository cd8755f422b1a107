import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type GoNeed, provideGo } from '../../../../server/builders/toolchains/go/provide-go.ts'
import { openToolchainStore, type ToolchainStore } from '../../../../server/builders/toolchains/store/store.ts'
import type { Toolchains } from '../../../../server/builders/toolchains/tool.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { zip } from '../../../support/archives.ts'
import { checksumDatabase } from '../../../support/checksum-database.ts'
import { type GoProxy, startGoProxy } from '../../../support/go-proxy.ts'

let proxy: GoProxy
let dir: string
let store: ToolchainStore
let log: string[]

beforeAll(async () => {
  proxy = await startGoProxy(['1.20', '1.21.3', '1.24.0', '1.24.4', '1.25rc1'])
})
afterAll(() => proxy.stop())

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'toolchains-'))
  store = await openToolchainStore(dir, { maxBytes: 2 ** 32, foldersInUse: () => [] })
  log = []
  proxy.asked = []
})
afterEach(() => {
  proxy.before = undefined
  rmSync(dir, { recursive: true })
})

const bare: Toolchains = { tools: {}, problems: {} }
const machine = (version?: string): Toolchains => ({
  tools: { go: { directory: '/usr/local/go/bin', ...(version && { version }), env: {}, readOnlyBinds: [] } },
  problems: {},
})
const atLeast = (version: string): GoNeed => ({ least: { source: 'go.mod', version } })
const exactly = (version: string): GoNeed => ({ ...atLeast(version), exact: version })
const env = () => ({ GOPROXY: proxy.url, GOSUMDB: proxy.db.key })

const provide = (need: GoNeed = {}, found = bare, changes: Record<string, string> = {}) =>
  provideGo(found, need, {
    store,
    env: { ...env(), ...changes },
    signal: new AbortController().signal,
    log: (line) => log.push(line),
  })
const versionFor = async (...given: Parameters<typeof provide>) => (await provide(...given)).tools.go?.version
const entries = async () => (await store.entries()).map(({ name }) => name).sort()

describe('a build is given', () => {
  test.each([
    [{}, '1.24.4'],
    [atLeast('1.18'), '1.24.4'],
    [atLeast('1.24.1'), '1.24.4'],
    [exactly('1.21.3'), '1.21.3'],
    [exactly('1.25rc1'), '1.25rc1'],
    [exactly('1.20'), '1.20'],
  ])('for %j Go %s', async (need, version) => {
    expect(await versionFor(need)).toBe(version)
  })

  test("the machine's own where it is new enough, or nobody can tell, without asking anybody", async () => {
    for (const [version, need] of [
      ['1.22.1', {}],
      ['1.22.1', atLeast('1.22')],
      ['1.22.1', exactly('1.21.3')],
      [undefined, atLeast('1.24')],
    ] as const)
      expect((await provide(need, machine(version))).tools.go?.directory).toBe('/usr/local/go/bin')
    expect(proxy.asked).toEqual([])
    expect(await versionFor(atLeast('1.22.2'), machine('1.22.1'))).toBe('1.24.4')
  })

  test('all of it as go lays it out: programs that can be run, and the files that no module may hold', async () => {
    const { tools } = await provide(exactly('1.24.0'))
    const folder = join(dir, 'go-1.24.0')
    expect(tools.go).toEqual({ directory: join(folder, 'bin'), version: '1.24.0', env: {}, readOnlyBinds: [folder] })
    expect((await runProcess([join(folder, 'bin/go')], { env: {} })).stdout).toBe('go version go1.24.0\n')
    expect(statSync(join(folder, 'pkg/tool/linux/compile')).mode & 0o777).toBe(0o755)
    expect(statSync(join(folder, 'VERSION')).mode & 0o777).toBe(0o644)
    expect(readFileSync(join(folder, 'src/go.mod'), 'utf8')).toBe('module std\n')
    expect(log).toEqual([`==> Fetching Go 1.24.0 from ${new URL(proxy.url).host}`, '    Its hash is the one that sums.example has.'])
  })

  test('what was fetched before, without a proxy too', async () => {
    const first = await provide()
    proxy.asked = []
    expect(await provide()).toEqual(first)
    expect(proxy.asked).toEqual([])
    for (const GOPROXY of ['off', 'http://127.0.0.1:9']) expect(await provide(atLeast('1.24.2'), bare, { GOPROXY })).toEqual(first)
    expect(log.at(-1)).toMatch(/^Go could not be looked for \(it cannot be reached/)
  })
})

describe('GOPROXY names who is asked', () => {
  const failing = (status: number) => {
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('', { status }) })
    return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
  }

  test.each([
    [404, ',', true],
    [410, ',', true],
    [500, '|', true],
    [500, ',', false],
  ])('who answers %d with %s behind it is followed by the next one: %s', async (status, separator, isFollowed) => {
    const first = failing(status)
    const asked = provide(exactly('1.24.0'), bare, { GOPROXY: `${first.url}${separator}${proxy.url}` })
    if (isFollowed) expect((await asked).tools.go?.version).toBe('1.24.0')
    else await expect(asked).rejects.toThrow('answered 500 for /golang.org/toolchain')
    await first.stop()
  })

  test.each([
    ['off', 'GOPROXY lets nothing be fetched'],
    ['file:///srv/modules', 'GOPROXY names something that is no https address'],
  ])('%s: %s', async (GOPROXY, words) => {
    await expect(provide(exactly('1.24.0'), bare, { GOPROXY })).rejects.toThrow(words)
    expect(proxy.asked).toEqual([])
  })

  test('a name and password in it are sent, and stand nowhere else', async () => {
    const sent: (string | null)[] = []
    const guarded = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        sent.push(request.headers.get('authorization'))
        return new Response('', { status: 403 })
      },
    })
    const GOPROXY = `http://ada:s%40cret@127.0.0.1:${guarded.port}`
    await expect(provide({}, bare, { GOPROXY })).rejects.toThrow(/^(?!.*cret).*127\.0\.0\.1:\d+ answered 403/)
    expect(sent).toEqual([`Basic ${btoa('ada:s@cret')}`])
    await guarded.stop(true)
  })
})

describe('the checksum database', () => {
  const fetched = (changes: Record<string, string> = {}) => provide(exactly('1.24.0'), bare, changes)
  const refused = async (changes: Record<string, string>, words: string) => {
    await expect(fetched(changes)).rejects.toThrow(words)
    expect(await entries()).toEqual([])
    expect(readdirSync(dir)).toEqual([])
  }

  test.each([{ GOSUMDB: 'off' }, { GONOSUMDB: 'golang.org' }, { GONOSUMDB: 'example.com,golang.org/tool*' }])(
    'is not asked with %j, which the log tells',
    async (changes) => {
      await fetched(changes)
      expect(proxy.asked.filter((path) => path.startsWith('sumdb'))).toEqual([])
      expect(log.at(-1)).toContain('the settings of this server turn the checksum database off')
    },
  )

  test('is asked at its own address where no proxy leads to it', async () => {
    const own = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request) => new Response(proxy.db.answer(new URL(request.url).pathname.slice(1))),
    })
    proxy.before = async (path) => (path.startsWith('sumdb') ? new Response('', { status: 404 }) : undefined)
    await fetched({ GOSUMDB: `${proxy.db.key} http://127.0.0.1:${own.port}` })
    expect(log.at(-1)).toContain('is the one that sums.example has')
    await own.stop(true)
  })

  test('out of reach keeps nobody from building, and the log warns', async () => {
    proxy.before = async (path) => (path.startsWith('sumdb') ? new Response('', { status: 404 }) : undefined)
    await fetched({ GOSUMDB: `${proxy.db.key} http://127.0.0.1:9` })
    expect(log.at(-1)).toMatch(/Warning: its hash could not be looked up, as sums\.example is out of reach \(it cannot be reached/)
  })

  test('has what differs from it refused', async () => {
    const other = new Uint8Array(zip([{ name: 'golang.org/toolchain@v0.0.1-go1.24.0.linux-amd64/bin/go', content: 'something else' }]))
    proxy.before = async (path) => (path.endsWith('.zip') ? new Response(other) : undefined)
    await refused({}, 'what came is not what the checksum database sums.example knows')
  })

  test('that does not know a release has it refused', async () => {
    proxy.before = async (path) => (path.includes('/lookup/') ? new Response('', { status: 404 }) : undefined)
    await refused({}, 'the checksum database sums.example does not know it')
  })

  test('is believed only what it has signed: no other key, no other record, no other tree', async () => {
    const other = checksumDatabase(['golang.org/toolchain v1 h1:x'])
    await refused({ GOSUMDB: other.key }, 'is not signed by it')
    const changed = (change: (answer: string) => string) => async (path: string) =>
      path.includes('/lookup/') ? new Response(change(String(proxy.db.answer(path.replace(/^sumdb\/[^/]+\//, ''))))) : undefined
    proxy.before = changed((answer) => answer.replace(/h1:\S+/, 'h1:4444'))
    await refused({}, 'is none of its own')
    proxy.before = changed((answer) => answer.replace('\n700\n', '\n701\n'))
    await refused({}, 'is not signed by it')
    proxy.before = changed((answer) => answer.replace(/^\d+/, '3'))
    await refused({}, 'is none of its own')
    proxy.before = async (path) => (path.includes('/tile/') ? new Response('short') : undefined)
    await refused({}, 'what came as a part of sums.example is none')
  })

  test('has to be one that can be checked', async () => {
    await refused({ GOSUMDB: 'sums.unknown.example' }, 'GOSUMDB names no checksum database that can be checked')
    await refused({ GOSUMDB: proxy.db.key.replace('sums', 'sons') }, 'GOSUMDB names no checksum database that can be checked')
  })
})

test('what is not to be had is refused with what was asked for, what is there, and what to do', async () => {
  await expect(provide(atLeast('1.30'), machine('1.22.1'))).rejects.toThrow(
    /^This app needs Go 1\.30 \(go\.mod\), and this server has 1\.22\.1\. It could not be had: the newest is 1\.25rc1\. To go on, name another version in go\.mod/,
  )
  await expect(provide(exactly('1.24.9'))).rejects.toThrow(/which is not on this server\. .* answered 404 for .*go1\.24\.9/)
  expect(await entries()).toEqual([])
})
