import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { html } from '../../../../server/api/pages/markup/html.ts'
import { qrCode } from '../../../../server/api/pages/markup/qr-code.ts'
import { style, stylePath } from '../../../../server/api/pages/page/style.ts'
import { clientName } from '../../../../shared/client-name.ts'
import { startTestServer, type TestServer, testAdmin } from '../../../support/server.ts'
import { browse } from './browsing.ts'

describe('markup', () => {
  test('takes text as text, in elements and attributes', () => {
    expect(html`<a title="${'"<&\'>'}">${'<b>'}</a>`.markup).toBe('<a title="&quot;&lt;&amp;&#x27;&gt;">&lt;b&gt;</a>')
  })

  test('takes markup and lists of it as they are, and nothing where there is nothing', () => {
    expect(html`<ul>${['a', '<'].map((text) => html`<li>${text}</li>`)}${undefined}${false}${0}</ul>`.markup).toBe(
      '<ul><li>a</li><li>&lt;</li>0</ul>',
    )
  })

  test('is made by nothing else', () => {
    expect(() => html`${{ markup: '<script>' }}`).toThrow('did not make')
  })
})

test('a QR code is one path of dark modules', () => {
  const { markup } = qrCode('otpauth://totp/a', 'Key')
  expect(markup).toMatch(
    /^<svg class="qr" role="img" aria-label="Key" viewBox="0 0 \d+ \d+" shape-rendering="crispEdges"><path d="(M\d+ \d+h1v1h-1z)+"\/><\/svg>$/,
  )
})

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36', 'Chrome on Linux'],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0', 'Edge on Windows'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari on iPhone',
  ],
  ['Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0', 'Firefox on Android'],
  ['cpctl on laptop', 'cpctl on laptop'],
  ['', 'Unknown program'],
])('%s is called %s', (client, name) => {
  expect(clientName(client)).toBe(name)
})

/** Relative luminance and contrast: WCAG 2.2. */
function luminance(hex: string): number {
  const full = hex.length === 4 ? [...hex.slice(1)].map((digit) => digit + digit).join('') : hex.slice(1)
  const [r = 0, g = 0, b = 0] = [0, 2, 4].map((at) => {
    const channel = Number.parseInt(full.slice(at, at + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
function contrast(left: string, right: string): number {
  const [dark = 0, light = 0] = [luminance(left), luminance(right)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}
const schemes = [...style.matchAll(/:root\{([^}]*)\}/g)].map(([, block = '']) =>
  Object.fromEntries([...block.matchAll(/--([\w-]+):(#[0-9a-f]+)/g)].map(([, name = '', value = '']) => [name, value])),
)

describe.each(['light', 'dark'].map((name, index) => [name, schemes[index] ?? {}] as const))(
  'the colours of the %s scheme',
  (_, colours) => {
    test.each([
      ['text', 'page'],
      ['text', 'card'],
      ['quiet', 'page'],
      ['quiet', 'card'],
      ['accent', 'page'],
      ['accent', 'card'],
      ['accent-hover', 'page'],
      ['on-accent', 'accent'],
      ['on-accent', 'accent-hover'],
      ['bad', 'card'],
      ['bad', 'bad-card'],
      ['good', 'good-card'],
    ])('%s on %s have a contrast of 4.5 and more', (front, back) => {
      expect(contrast(colours[front] ?? '', colours[back] ?? '')).toBeGreaterThanOrEqual(4.5)
    })

    test.each([
      ['line', 'page'],
      ['line', 'card'],
    ])('the edge of a field, %s on %s, is seen', (front, back) => {
      expect(contrast(colours[front] ?? '', colours[back] ?? '')).toBeGreaterThanOrEqual(3)
    })
  },
)

describe('pages over HTTP', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(() => server.close())

  test('the style sheet is small, and kept for ever under an address of its own', async () => {
    const { status, headers, text } = await browse(server).get(stylePath)
    expect({ status, text }).toEqual({ status: 200, text: style })
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('content-type')).toBe('text/css; charset=utf-8')
    expect(style.length).toBeLessThan(6000)
  })

  test.each([
    '/login',
    '/reset-password',
    '/reset-password?token=x',
    '/account',
    '/account/password',
    '/account/two-factor',
    '/account/sessions',
    '/device',
  ])('%s says its language and title, has one heading, and a label for each field', async (path) => {
    const visitor = browse(server)
    if (!/login|reset/.test(path)) await visitor.post('/login', { ...testAdmin })
    const { status, text } = await visitor.get(path)
    expect(status).toBe(200)
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
    expect(text).toMatch(/<meta name="viewport" content="width=device-width, initial-scale=1">/)
    const [, heading = ''] = /<h1>([^<]+)<\/h1>/.exec(text) ?? []
    expect(text).toContain(`<title>${heading} – cpd</title>`)
    expect(text.match(/<h1>/g)).toHaveLength(1)
    const inputs = [...text.matchAll(/<input (?!type="hidden")([^>]*)>/g)].map(([, attributes = '']) => attributes)
    for (const attributes of inputs.filter((one) => !one.endsWith(' hidden readonly'))) {
      const [, id] = /id="([^"]+)"/.exec(attributes) ?? []
      expect(text).toContain(`<label for="${id}">`)
      expect(attributes).toMatch(/autocomplete="(username|current-password|new-password|one-time-code|name|off)"/)
    }
    expect(new Set(text.match(/\sid="[^"]+"/g)).size).toBe(text.match(/\sid="[^"]+"/g)?.length)
  })

  test('what is wrong is told at once, at the top and at the field', async () => {
    const visitor = browse(server)
    await visitor.post('/login', { ...testAdmin })
    const { status, text } = await visitor.post('/account/password', { currentPassword: testAdmin.password, newPassword: 'short' })
    expect(status).toBe(400)
    expect(text).toMatch(/role="alert">\s*<p><a href="#newPassword">The new password must have at least 10 characters<\/a><\/p>/)
    expect(text).toMatch(/<input id="newPassword"[^>]*aria-describedby="newPassword-hint newPassword-problem" aria-invalid="true"/)
    expect(text).toContain('<p class="problem" id="newPassword-problem">must have at least 10 characters</p>')
    expect(text).not.toContain('short')
  })

  test('whoever is not logged in logs in first, and comes back', async () => {
    for (const path of ['/account', '/account/sessions', '/device?code=BCDF-GHJK']) {
      const location = `/login?returnTo=${encodeURIComponent(path)}`
      expect(await browse(server).get(path)).toMatchObject({ status: 303, location })
    }
    expect(await browse(server).get('/')).toMatchObject({ status: 303, location: '/account' })
  })

  test('whoever is logged in goes on from the login page, but reads first what a link says was done', async () => {
    const visitor = browse(server)
    await visitor.post('/login', { ...testAdmin })
    expect(await visitor.get('/login')).toMatchObject({ status: 303, location: '/account' })
    expect((await visitor.get('/login?notice=password_set')).text).toContain('The new password is set')
    expect((await visitor.get('/reset-password?token=any')).text).toContain(`Logged in as ${testAdmin.email}`)
  })

  test('logging out ends the session on the server', async () => {
    const visitor = browse(server)
    await visitor.post('/login', { ...testAdmin })
    const cookie = `cpd_session=${visitor.cookies.get('cpd_session')}`
    expect(await visitor.post('/logout', {})).toMatchObject({ status: 303, location: '/login?notice=logged_out' })
    // By the other the browser is known, which lets nobody in.
    expect([...visitor.cookies.keys()]).toEqual(['cpd_device'])
    expect((await browse(server).get('/account', { cookie })).location).toBe('/login?returnTo=%2Faccount')
  })
})
