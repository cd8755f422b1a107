import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fileInIndex } from '../../../../server/builders/toolchains/registry/python-index.ts'
import { openToolchainStore } from '../../../../server/builders/toolchains/store/store.ts'
import { uvPin } from '../../../../server/builders/toolchains/uv/pin.ts'
import { provideUv } from '../../../../server/builders/toolchains/uv/provide-uv.ts'

const FILE = 'uv-1.2.3-py3-none-any.whl'

let server: ReturnType<typeof Bun.serve>
let base: string
let page: string
let asked: { path: string; authorization: string | null }[]

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname } = new URL(request.url)
      asked.push({ path: pathname, authorization: request.headers.get('authorization') })
      return pathname.endsWith('.whl') ? new Response('something else') : new Response(page)
    },
  })
  base = `http://127.0.0.1:${server.port}`
})
afterAll(() => server.stop(true))
beforeEach(() => {
  asked = []
})

const find = (env: Record<string, string> = {}) =>
  fileInIndex('uv', FILE, { env: { PIP_INDEX_URL: `${base}/simple/`, ...env }, signal: new AbortController().signal })

describe('a file of an index is found', () => {
  test.each([
    ['JSON', `{"files":[{"filename":"${FILE}","url":"https://files.example/a/${FILE}"}]}`, `https://files.example/a/${FILE}`],
    ['HTML', `<a href="https://files.example/a/${FILE}#sha256=00">${FILE}</a>`, `https://files.example/a/${FILE}`],
  ])('on a page of %s', async (_, text, url) => {
    page = text
    expect((await find()).href).toBe(url)
    expect(asked).toEqual([{ path: '/simple/uv/', authorization: null }])
  })

  test('beside it, by whoever may read it, and nobody else is told how', async () => {
    page = `<a href="../../packages/${FILE}">`
    const guarded = { PIP_INDEX_URL: `${base.replace('//', '//ada:s%40cret@')}/simple` }
    const found = await find(guarded)
    expect([found.pathname, found.username, found.password]).toEqual([`/packages/${FILE}`, 'ada', 's%40cret'])
    expect(asked[0]?.authorization).toBe(`Basic ${btoa('ada:s@cret')}`)
    page = `"https://files.example/${FILE}"`
    expect((await find(guarded)).href).toBe(`https://files.example/${FILE}`)
  })

  test.each([
    [{}, '<a href="other.whl">', 'does not have uv-1.2.3-py3-none-any.whl'],
    [{ PIP_NO_INDEX: '1' }, '', 'PIP_NO_INDEX has no index be asked'],
    [{ PIP_INDEX_URL: 'file:///srv' }, '', 'PIP_INDEX_URL is no https address'],
  ])('not with %j', async (env, text, words) => {
    page = text
    await expect(find(env)).rejects.toThrow(words)
  })
})

test('a uv that is not the pinned one is refused, and nothing is left of it', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'uv-'))
  try {
    page = Object.values(uvPin.wheels)
      .map(({ file }) => `<a href="/${file}#sha256=0">`)
      .join('\n')
    const store = await openToolchainStore(dir, { maxBytes: 2 ** 32, foldersInUse: () => [] })
    const log: string[] = []
    const providing = { store, env: { PIP_INDEX_URL: base }, signal: new AbortController().signal, log: (line: string) => log.push(line) }
    await expect(provideUv(providing)).rejects.toThrow('is not what its list says')
    expect(readdirSync(dir)).toEqual([])
    expect(log[0]).toContain(`Fetching uv ${uvPin.version} from 127.0.0.1`)
  } finally {
    rmSync(dir, { recursive: true })
  }
})
