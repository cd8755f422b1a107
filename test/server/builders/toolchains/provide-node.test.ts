import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type NodeNeed, provideNode } from '../../../../server/builders/toolchains/node/provide-node.ts'
import { nodeHeadersEnv } from '../../../../server/builders/toolchains/node-headers.ts'
import { unusedEntries } from '../../../../server/builders/toolchains/store/rules.ts'
import { openToolchainStore, type ToolchainStore } from '../../../../server/builders/toolchains/store/store.ts'
import type { Tool, Toolchains } from '../../../../server/builders/toolchains/tool.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { type PackageRegistry, startNpmRegistry } from '../../../support/npm-registry.ts'

let registry: PackageRegistry
let dir: string
let store: ToolchainStore
const keeping = { maxBytes: 2 ** 32, foldersInUse: () => [] }
let log: string[]

beforeAll(async () => {
  registry = await startNpmRegistry(['20.9.0', '22.1.0', '22.11.0', '23.5.0', '24.2.0', '25.0.0'], ['10.8.2', '10.9.4', '11.6.2'])
})
afterAll(() => registry.stop())

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'toolchains-'))
  store = await openToolchainStore(dir, keeping)
  log = []
  registry.asked = []
})
afterEach(() => {
  registry.before = undefined
  rmSync(dir, { recursive: true })
})

const bare: Toolchains = { tools: {}, problems: {} }
const machine = (version: string): Toolchains => {
  const tool: Tool = { directory: '/usr/bin', version, env: {}, readOnlyBinds: [] }
  return { tools: { node: tool, npm: tool }, problems: {} }
}
const asking = (wanted: string): NodeNeed => ({ wish: { source: '.nvmrc', wanted } })

function provide(need: NodeNeed = {}, found = bare, options: { env?: Record<string, string>; signal?: AbortSignal } = {}) {
  const { env = { npm_config_registry: registry.url }, signal = new AbortController().signal } = options
  return provideNode(found, need, { store, env, signal, log: (line) => log.push(line) })
}
const versionFor = async (...given: Parameters<typeof provide>) => (await provide(...given)).tools.node?.version
const entries = async () => (await store.entries()).map(({ name }) => name).sort()

describe('a build is given', () => {
  test.each([
    ['22.1.0', '22.1.0'],
    ['v22.1.0', '22.1.0'],
    ['22', '22.11.0'],
    ['>=20 <23', '22.11.0'],
    ['>=18', '24.2.0'],
    ['23.x', '23.5.0'],
    ['lts/jod', '22.11.0'],
    ['lts/iron', '20.9.0'],
    ['lts/*', '24.2.0'],
    ['node', '25.0.0'],
    ['*', '24.2.0'],
  ])('for %s Node.js %s', async (wanted, version) => {
    expect(await versionFor(asking(wanted))).toBe(version)
  })

  test('the newest even major without a wish, with its npm and headers, all of it for others to read and nobody to write', async () => {
    const { tools } = await provide()
    expect(await entries()).toEqual(['node-24.2.0', 'npm-11.6.2'])
    const env = { PATH: `${tools.node?.directory}:${tools.npm?.directory}:/usr/bin:/bin` }
    for (const [program, printed] of Object.entries({ node: 'v24.2.0', npm: '11.6.2', npx: '11.6.2' }))
      expect((await runProcess([`${tools[program === 'node' ? 'node' : 'npm']?.directory}/${program}`], { env })).stdout).toBe(
        `${printed}\n`,
      )
    expect(await nodeHeadersEnv(tools)).toEqual({ npm_package_config_node_gyp_nodedir: join(dir, 'node-24.2.0') })
    expect(tools.node?.readOnlyBinds).toEqual([join(dir, 'node-24.2.0')])
    for (const path of ['', 'node-24.2.0', 'node-24.2.0/bin/node', 'npm-11.6.2', 'npm-11.6.2/bin', 'npm-11.6.2/lib/node_modules'])
      expect(statSync(join(dir, path)).mode & 0o777).toBe(0o755)
    expect(log).toEqual([expect.stringMatching(/Fetching Node\.js 24\.2\.0 from 127/), expect.stringMatching(/Fetching npm 11\.6\.2 from/)])
  })

  test("the machine's own where that will do, without asking anybody", async () => {
    for (const need of [{}, asking('20'), asking('lts/iron'), asking('>=18')])
      expect((await provide(need, machine('20.2.0'))).tools).toEqual(machine('20.2.0').tools)
    expect(registry.asked).toEqual([])
    expect(await versionFor(asking('22'), machine('20.2.0'))).toBe('22.11.0')
  })

  test('the npm of its time where only that is missing', async () => {
    const { node } = machine('20.9.0').tools
    const { tools } = await provide({}, { tools: { ...(node && { node }) }, problems: {} })
    expect([tools.node?.directory, tools.npm?.version]).toEqual(['/usr/bin', '10.8.2'])
  })

  test('what was fetched before without a request, and without a registry', async () => {
    const first = await provide(asking('22'))
    registry.asked = []
    expect(await provide(asking('22'))).toEqual(first)
    expect(registry.asked).toEqual([])
    rmSync(join(dir, `node-linux-${process.arch}.json`))
    const env = { npm_config_registry: 'http://127.0.0.1:9/' }
    expect(await provide(asking('22'), bare, { env })).toEqual(first)
    expect(await provide(asking('22.11.0'), bare, { env })).toEqual(first)
  })

  test('one fetch for two that want the same', async () => {
    const [first, second] = await Promise.all([provide(asking('22')), provide(asking('22'))])
    expect([first.tools.node?.version, second.tools.node?.version]).toEqual(['22.11.0', '22.11.0'])
    expect(registry.asked.filter((path) => path.startsWith('-/node'))).toHaveLength(1)
  })

  test.each(['while it waits for the fetch of another', 'when that fetch is being ended already'])(
    'what it asks for %s, which is given up',
    async (moment) => {
      const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>()
      const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<undefined>()
      registry.before = async (path) => {
        if (!path.startsWith('-/node')) return undefined
        asked()
        return await mayGoOn
      }
      const stop = new AbortController()
      const first = provide(asking('22'), bare, { signal: stop.signal })
      const before = moment.startsWith('while') ? [provide(asking('22'))] : []
      await isAsked
      stop.abort(new Error('canceled'))
      await expect(first).rejects.toThrow('canceled')
      const others = [...before, provide(asking('22'))]
      goOn(undefined)
      for (const other of others) expect((await other).tools.node?.version).toBe('22.11.0')
    },
  )
})

describe('a build is refused, and nothing is left,', () => {
  const refused: [string, NodeNeed, string][] = [
    ['for a range that nothing satisfies', asking('21'), 'there is none; the nearest is 20.9.0 and 22.1.0'],
    ['for a version that is not there', asking('22.2.0'), 'there is none; the nearest is 22.1.0 and 22.11.0'],
    ['for words that are no version', asking('fermium-ish'), '.nvmrc asks for Node.js fermium-ish, which is no version'],
  ]
  test.each(refused)('%s', async (_, need, words) => {
    await expect(provide(need, machine('20.2.0'))).rejects.toThrow(words)
    expect(await entries()).toEqual([])
  })

  test('where the registry cannot be reached, saying which version, from where and what to do', async () => {
    const refusal = provide(asking('22'), machine('20.2.0'), { env: { npm_config_registry: 'http://127.0.0.1:9/' } })
    await expect(refusal).rejects.toThrow(
      /^This app needs Node\.js 22 \(\.nvmrc\), and this server has 20\.2\.0\. .* 127\.0\.0\.1:9: it cannot be reached \(\w+\)\. .*--runtime bun/,
    )
  })

  test('where an archive is not what the list says', async () => {
    registry.before = async (path) => (path.startsWith('-/node') ? new Response('something else') : undefined)
    await expect(provide()).rejects.toThrow('is not what its list says')
    expect(readdirSync(dir)).toEqual([`node-linux-${process.arch}.json`])
  })

  test('where the registry answers with a page', async () => {
    registry.before = async () => new Response('<html>')
    await expect(provide()).rejects.toThrow('something that is no package of npm')
  })

  test('where everybody who waited has gone', async () => {
    const stop = new AbortController()
    registry.before = async (path) => {
      if (path.startsWith('-/node')) stop.abort(new Error('canceled'))
      return undefined
    }
    await expect(provide({}, bare, { signal: stop.signal })).rejects.toThrow('canceled')
    await expect.poll(() => readdirSync(dir)).toEqual([`node-linux-${process.arch}.json`])
  })
})

describe('the store', () => {
  const DAY_MS = 24 * 3_600_000

  test('begins without what an interrupted fetch has left', async () => {
    await provide()
    const stop = new AbortController()
    const make = (): Promise<never> => {
      stop.abort()
      return new Promise(() => {})
    }
    await store.ensure('node-1.0.0', { mostBytes: 1, make }, stop.signal).catch(() => {})
    expect(readdirSync(dir).some((name) => name.startsWith('incoming-'))).toBe(true)
    await openToolchainStore(dir, keeping)
    expect(readdirSync(dir).sort()).toEqual(['node-24.2.0', `node-linux-${process.arch}.json`, 'npm-11.6.2'])
  })

  test('lets go of what nothing needs for a day, but not of what releases name, or the newest used of a kind', () => {
    const now = 100 * DAY_MS
    const old = ['node-20.9.0', 'node-22.1.0', 'npm-10.8.2', 'node-18.1.0'].map((name, at) => ({ name, usedAt: at * DAY_MS }))
    const fresh = { name: 'node-22.11.0', usedAt: now - DAY_MS }
    const unused = unusedEntries([...old, fresh], { named: new Set(['node-22.1.0']), now })
    expect(unused.map(({ name }) => name)).toEqual(['node-20.9.0', 'node-18.1.0'])
  })

  test('keeps what was used between the look and the removal', async () => {
    await provide()
    utimesSync(join(dir, 'node-24.2.0'), 1, 1)
    const [node] = (await store.entries()).filter(({ name }) => name.startsWith('node'))
    if (node === undefined) throw new Error('It is not there')
    await store.find('node-24.2.0')
    await store.remove(node)
    expect(await entries()).toContain('node-24.2.0')
    utimesSync(join(dir, 'node-24.2.0'), 1, 1)
    await store.remove(node)
    expect(await entries()).toEqual(['npm-11.6.2'])
  })
})
