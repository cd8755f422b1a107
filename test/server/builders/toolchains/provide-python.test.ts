import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { providePython } from '../../../../server/builders/toolchains/python/provide-python.ts'
import { createOutages, type Outages } from '../../../../server/builders/toolchains/registry/outages.ts'
import { openToolchainStore, type ToolchainStore } from '../../../../server/builders/toolchains/store/store.ts'
import type { Tool, Toolchains } from '../../../../server/builders/toolchains/tool.ts'
import { uvPin } from '../../../../server/builders/toolchains/uv/pin.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { keep, placeKept } from '../../../support/kept-toolchain.ts'
import { type PythonDownloads, startPythonDownloads } from '../../../support/python-downloads.ts'

/** Releases that the pinned uv knows, as whatever else fits is not asked for. */
const [OLDER, NEWER] = ['3.12.1', '3.13.1'] as const
const UV = `uv-${uvPin.version}`

let downloads: PythonDownloads
let dir: string
let store: ToolchainStore
let log: string[]
let outages: Outages

beforeAll(async () => {
  downloads = await startPythonDownloads([OLDER, NEWER])
})
afterAll(() => downloads.stop())

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pythons-'))
  store = await openToolchainStore(dir, { maxBytes: 2 ** 32, foldersInUse: () => [] })
  await placeKept(dir, UV)
  log = []
  outages = createOutages()
  downloads.asked = []
})
afterEach(async () => {
  downloads.instead = undefined
  await keep(dir, UV)
  rmSync(dir, { recursive: true })
})

const python = (version: string): Tool => ({ directory: `/opt/python-${version}/bin`, version, env: {}, readOnlyBinds: [] })
const found: Toolchains = { tools: { python: python('3.11.2') }, problems: {} }

const provide = (wanted?: string, own: string[] = ['3.11.2', '3.12.7'], changes: Record<string, string> = {}) =>
  providePython(found, wanted === undefined ? {} : { wish: { source: '.python-version', wanted } }, {
    store,
    env: { ...registryEnv, UV_PYTHON_DOWNLOADS_JSON_URL: downloads.url, ...changes },
    signal: new AbortController().signal,
    log: (line) => log.push(line),
    interpreters: async () => own.map(python),
    fetchUid: () => 1_900_000_000,
    outages,
  })
const versionFor = async (...given: Parameters<typeof provide>) => (await provide(...given)).tools.python?.version

/** What a closed network needs to reach its index, where uv has not been fetched by an earlier run. */
const registryEnv = Object.fromEntries(Object.entries(Bun.env).filter((entry): entry is [string, string] => /^PIP_/.test(entry[0])))

describe('a build is given', () => {
  test("uv, and the machine's own Python where one will do", async () => {
    const { uv, tools } = await provide()
    expect(uv).toEqual({ directory: join(dir, UV, 'bin'), version: uvPin.version, env: {}, readOnlyBinds: [join(dir, UV)] })
    expect((await runProcess([join(dir, UV, 'bin/uv'), '--version'], { env: {} })).stdout).toContain(`uv ${uvPin.version}`)
    expect(tools.python?.version).toBe('3.11.2')
    expect(await versionFor('3.12')).toBe('3.12.7')
    expect(await versionFor('>=3.12')).toBe('3.12.7')
    expect(await versionFor('lts')).toBe('3.11.2')
    expect(downloads.asked).toEqual([])
  }, 60_000)

  test('what nobody has by uv: nobody else can write it, and it is fetched once', async () => {
    const { tools } = await provide(OLDER)
    expect(log.at(-1)).toBe(`==> Fetching Python ${OLDER} by uv`)
    const folder = join(dir, `python-${OLDER}`)
    expect(tools.python).toEqual({ directory: join(folder, 'bin'), version: OLDER, env: {}, readOnlyBinds: [folder] })
    expect((await runProcess([join(folder, 'bin/python3'), '--version'], { env: {} })).stdout).toBe(`Python ${OLDER}\n`)
    for (const path of ['', 'bin', 'bin/python3.12', 'lib/python3.12']) {
      const { mode, uid, gid } = statSync(join(folder, path))
      expect([mode & 0o022, uid, gid]).toEqual([0, process.getuid?.(), process.getgid?.()])
    }
    downloads.asked = []
    expect(await versionFor(OLDER)).toBe(OLDER)
    expect(downloads.asked).toEqual([])
  })

  test('one that was fetched before, or one of the same line, where the right one cannot be had', async () => {
    const nowhere = { UV_PYTHON_DOWNLOADS_JSON_URL: 'http://127.0.0.1:9/downloads.json' }
    expect(await versionFor('3.12.5', undefined, nowhere)).toBe('3.12.7')
    expect(log.at(-1)).toMatch(/^Python 3\.12\.5 could not be fetched \(.+\), so it is 3\.12\.7\.$/)
    mkdirSync(join(dir, 'python-3.10.9'))
    expect(await versionFor('~=3.10.2', undefined, nowhere)).toBe('3.10.9')
  }, 60_000)

  test('pip alone, and what it had before, where uv is not to be had', async () => {
    rmSync(join(dir, UV), { recursive: true })
    expect(await provide('3.12', undefined, { PIP_INDEX_URL: 'http://127.0.0.1:9' })).toBe(found)
    expect(log).toEqual([expect.stringMatching(/^Warning: uv could not be had \(it cannot be reached .*installed by pip/)])
    // Whoever comes within minutes does not wait for it once more, though it could be had by now.
    expect(await provide('3.12')).toBe(found)
    expect(log[1]).toBe(log[0])
  })
})

describe('a build is refused, and nothing is left,', () => {
  const pythons = () => readdirSync(dir).filter((name) => name !== UV)

  test.each([
    [
      '3.9.99',
      'This app needs Python 3.9.99 (.python-version), and this server has 3.11.2, 3.12.7. uv could not fetch it: No download found',
    ],
    [
      '>=4',
      'This app needs Python >=4 (.python-version), and this server has 3.11.2, 3.12.7. uv could not fetch it: uv knows none that fits',
    ],
  ])('where nobody has Python %s', async (wanted, words) => {
    await expect(provide(wanted)).rejects.toThrow(words)
    expect(pythons()).toEqual([])
  })

  test('where an archive is not what the list says', async () => {
    downloads.instead = 'something else'
    await expect(provide(NEWER)).rejects.toThrow(/set UV_PYTHON_INSTALL_MIRROR/)
    expect(pythons()).toEqual([])
  }, 60_000)
})
