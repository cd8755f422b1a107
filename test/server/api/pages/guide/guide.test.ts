import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chapters } from '../../../../../server/api/pages/guide/chapters.ts'
import { renderChapter } from '../../../../../server/api/pages/guide/render.ts'
import { expectError } from '../../../../conformance/expect-error.ts'
import { call } from '../../../../support/client.ts'
import { startTestServer, type TestServer } from '../../../../support/server.ts'
import { browse } from '../browsing.ts'

const docs = join(import.meta.dirname, '../../../../../server/docs')
const paths = ['/docs/guide', ...chapters.map(({ slug }) => `/docs/guide/${slug}`)]

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const read = async (path: string): Promise<string> => (await browse(server).get(path)).text
const titleOf = (text: string): string => /<h1>([^<]+)<\/h1>/.exec(text)?.[1] ?? ''
const idsIn = (text: string): string[] => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)

test('every document below server/docs is a chapter, under the name of its file', () => {
  const files = readdirSync(docs).map((file) => file.replace(/\.md$/, '').toLowerCase())
  expect(chapters.map(({ slug }) => slug).sort()).toEqual(files.sort())
  for (const file of readdirSync(docs)) {
    const chapter = chapters.find(({ slug }) => `${slug}.md` === file.toLowerCase())
    expect(chapter?.text).toBe(readFileSync(join(docs, file), 'utf8'))
  }
})

describe.each(paths)('%s', (path) => {
  test('is a page with a title, one heading of the first level, and no id twice', async () => {
    const { status, text } = await browse(server).get(path)
    expect(status).toBe(200)
    expect(titleOf(text)).not.toBe('')
    expect(text).toContain(`<title>${titleOf(text)} – cpd</title>`)
    expect(text.match(/<h1>/g)).toHaveLength(1)
    expect(new Set(idsIn(text)).size).toBe(idsIn(text).length)
  })

  test('needs nobody to be logged in, runs no script and loads nothing of others', async () => {
    const { headers, text } = await browse(server).get(path)
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self'; /)
    expect(text).not.toMatch(/<script|<img|\son\w+=|\sstyle=|<style|javascript:/i)
    expect([...text.matchAll(/ src="/g)]).toEqual([])
    for (const [, sheet = ''] of text.matchAll(/<link rel="stylesheet" href="([^"]+)">/g)) {
      const { status, headers: kept } = await browse(server).get(sheet)
      expect({ sheet, status }).toEqual({ sheet, status: 200 })
      expect(kept.get('cache-control')).toBe('public, max-age=31536000, immutable')
    }
  })

  test('has only links that lead somewhere', async () => {
    const links = [...(await read(path)).matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href = '']) => href)
    for (const href of links.filter((link) => !link.startsWith('https://'))) {
      const { pathname, hash } = new URL(href, `http://host${path}`)
      const reply = await browse(server).get(pathname)
      expect({ href, status: reply.status }).toEqual({ href, status: pathname === '/account' ? 303 : 200 })
      if (hash !== '') expect(idsIn(reply.text)).toContain(hash.slice(1))
    }
  })
})

test('chapters lead to the next one and back, in the order of the contents', async () => {
  const contents = [...(await read('/docs/guide')).matchAll(/<dt><a href="([^"]+)">/g)].map(([, path]) => path)
  expect(contents).toEqual(paths.slice(1))
  for (const [index, path] of contents.entries()) {
    const text = await read(path ?? '')
    expect(/rel="next" href="([^"]+)"/.exec(text)?.[1]).toBe(contents[index + 1])
    expect(/rel="prev" href="([^"]+)"/.exec(text)?.[1]).toBe(contents[index - 1])
  }
})

test('a chapter that there is not is told by a page to people, and as JSON to programs', async () => {
  const { status, headers, text } = await browse(server).get('/docs/guide/nowhere', { 'sec-fetch-mode': 'navigate' })
  expect(status).toBe(404)
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(text).toContain('<h1>')
  expectError(await call(`${server.url}/docs/guide/nowhere`), 'not_found')
})

test('the other pages lead to the guide', async () => {
  expect(await read('/login')).toContain('<a href="/docs/guide">Guide</a>')
})

test('markup in a chapter is shown as text, and links to other chapters lead to their pages', () => {
  const { title, body, sections } = renderChapter('# A & B\n\n<b>x</b> [there](CHANGELOG.md#now)\n\n## One `CP_X` & <i>\n')
  expect(title).toBe('A & B')
  expect(body.markup).toContain('&lt;b&gt;x&lt;/b&gt; <a href="/docs/guide/changelog#now">there</a>')
  expect(sections.map((section) => section.title.markup)).toEqual(['One CP_X &amp; &lt;i&gt;'])
  expect(body.markup).toContain(`<h2 id="${sections[0]?.id}">`)
})
