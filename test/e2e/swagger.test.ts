import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationIds } from '../../shared/operations/all.ts'
import { goTo, openTestBrowser, type TestBrowser } from '../support/browser.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'

/** Shown by the page, and never to be taken for markup. */
const hostileName = '<img src=x onerror=alert(1)>'
const shots = process.env.CPD_TEST_SCREENSHOTS ?? mkdtempSync(join(tmpdir(), 'cpd-shots-'))

let cpd: Compiled
let key: string
beforeAll(async () => {
  cpd = await startCompiled()
  const made = await cpd.api<{ secret: string }>('/api-keys', { method: 'POST', json: { name: 'browser', role: 'developer' } })
  key = made.body.secret
  for (const name of ['shown', hostileName]) await cpd.api('/services', { method: 'POST', json: { type: 'web_service', name } })
})
afterAll(async () => {
  if (process.env.CPD_TEST_SCREENSHOTS === undefined) rmSync(shots, { recursive: true, force: true })
  await cpd.stop()
})

const strayRequests = ({ requests }: TestBrowser): string[] =>
  requests.filter((url) => new URL(url).origin !== cpd.apiUrl && !url.startsWith('data:') && !url.startsWith('blob:'))

describe('Swagger UI', () => {
  let browser: TestBrowser
  beforeAll(async () => {
    browser = await openTestBrowser({ width: 1280, height: 900 })
    await goTo(browser.page, `${cpd.apiUrl}/docs`)
    await browser.page.waitForSelector('.opblock-tag')
  })
  afterAll(() => browser.close())

  test('shows every operation', async () => {
    const { page } = browser
    const tags = page.locator('h3.opblock-tag')
    let shown = 0
    for (let index = 0; index < (await tags.count()); index++) {
      await tags.nth(index).click()
      await page.waitForSelector('.opblock')
      shown += await page.locator('.opblock').count()
      await tags.nth(index).click()
      await page.waitForSelector('.opblock', { state: 'detached' })
    }
    expect(shown).toBe(operationIds.length)
  })

  test('authorizes with a key, runs GET /v1/services and shows its 200', async () => {
    const { page } = browser
    await page.click('button.authorize')
    const form = page.locator('.auth-container', { hasText: 'bearer' })
    await form.locator('input').fill(key)
    await form.locator('button[type=submit]').click()
    await page.click('button.btn-done')
    await page.locator('h3.opblock-tag[data-tag="Services"]').click()
    const operation = page.locator('#operations-Services-listServices')
    await operation.locator('.opblock-summary-control').click()
    await operation.locator('.try-out__btn').click()
    const answered = page.waitForResponse((response) => new URL(response.url()).pathname === '/v1/services')
    await operation.locator('.execute').click()
    const response = await answered
    expect(response.status()).toBe(200)
    expect(response.request().headers().authorization).toBe(`Bearer ${key}`)
    const live = operation.locator('.live-responses-table .response').first()
    await live.waitFor()
    expect(await live.locator('.response-col_status').textContent()).toMatch(/^200/)
    expect(await live.locator('.highlight-code').first().textContent()).toContain('"name": "shown"')
    await live.scrollIntoViewIfNeeded()
    await page.screenshot({ path: join(shots, 'swagger.png') })
    expect(statSync(join(shots, 'swagger.png')).size).toBeGreaterThan(20_000)
  })

  test('shows names that look like markup as text', async () => {
    const text = await browser.page.locator('#operations-Services-listServices .live-responses-table').textContent()
    expect(text).toContain(hostileName)
    expect(await browser.page.locator('img[onerror]').count()).toBe(0)
  })

  test('asks nothing of any other host, breaks no policy and complains of nothing', () => {
    expect(browser.requests.length).toBeGreaterThan(4)
    expect(strayRequests(browser)).toEqual([])
    expect(browser.complaints).toEqual([])
  })

  test('would not be let talk to another host, and this test would notice', async () => {
    await browser.page.evaluate("document.body.append(Object.assign(new Image(), { src: 'http://192.0.2.1/pixel.png' }))")
    await expect.poll(() => browser.complaints.join('\n')).toContain('policy: img-src http://192.0.2.1')
  })
})

test('the status page fits a phone, and is complete in itself', async () => {
  const browser = await openTestBrowser({ width: 375, height: 667 })
  const { page } = browser
  try {
    const response = await goTo(page, `${cpd.apiUrl}/status`)
    expect(response?.status()).toBe(200)
    expect(await page.locator('h1').textContent()).toBe('Everything works')
    const lines = await page.locator('li').allTextContents()
    expect(lines).toEqual(['database', 'ingress', 'engine', 'disk'].map((name) => expect.stringContaining(name)))
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375)
    await page.screenshot({ path: join(shots, 'status-phone.png') })
    expect(strayRequests(browser)).toEqual([])
    expect(browser.complaints).toEqual([])
  } finally {
    await browser.close()
  }
})

test('a chapter of the guide fits a phone, is complete in itself and leads to the next one', async () => {
  const browser = await openTestBrowser({ width: 375, height: 667 })
  const { page } = browser
  try {
    await goTo(page, `${cpd.apiUrl}/docs/guide/settings`)
    expect(await page.locator('h1').textContent()).toBe('Settings')
    expect(await page.locator('td', { hasText: 'CP_LISTEN' }).count()).toBeGreaterThan(0)
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375)
    await page.screenshot({ path: join(shots, 'guide-phone.png') })
    await page.click('a[rel=next]')
    await page.waitForURL('**/docs/guide/security')
    expect(strayRequests(browser)).toEqual([])
    expect(browser.complaints).toEqual([])
  } finally {
    await browser.close()
  }
})
