import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import { goTo, startChromium, type TestBrowser, type TestChromium } from '../support/browser.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { nextTotp, totpAt } from '../support/two-factor.ts'
import { until } from '../support/until.ts'

const admin = { email: 'admin@localhost', password: 'correct horse battery' }
const memberPassword = 'another horse battery'
/** A folder for pictures of all pages, for people to look at. */
const shots = process.env.CPD_TEST_SCREENSHOTS
/** The browser's own word on an answer of 4xx to a page that it then shows. */
const refusedPage = /^error: Failed to load resource: the server responded with a status of 4\d\d/

let cpd: Compiled
let chromium: TestChromium
let publicUrl: string
beforeAll(async () => {
  chromium = await startChromium()
  cpd = await startCompiled()
  publicUrl = cpd.apiUrl.replace('127.0.0.1', 'localhost')
})
afterAll(async () => {
  await chromium.close()
  await cpd.stop()
})

/** Runs in the page: what is too small, too wide, or has no label. */
const hardToUse = `(() => {
  const small = [...document.querySelectorAll('button, a.button, input:not([type=hidden]):not([hidden])')].filter(
    (one) => one.getBoundingClientRect().height < 44)
  const unlabelled = [...document.querySelectorAll('input:not([type=hidden]):not([hidden])')].filter((one) => one.labels.length === 0)
  const tiny = [...document.querySelectorAll('input:not([type=hidden])')].filter((one) => parseFloat(getComputedStyle(one).fontSize) < 16)
  const wide = document.documentElement.scrollWidth > window.innerWidth ? ['the page scrolls sideways'] : []
  return [...small.map((one) => 'small: ' + one.outerHTML), ...unlabelled.map((one) => 'no label: ' + one.outerHTML),
    ...tiny.map((one) => 'tiny text: ' + one.outerHTML), ...wide]
})()`

const newInvite = async (email: string): Promise<string> => {
  const made = await cpd.api<{ acceptUrl: string }>('/team-invites', { method: 'POST', json: { email, role: 'developer' } })
  return made.body.acceptUrl
}

async function logIn(page: Page, { email, password }: { email: string; password: string }, path = '/login'): Promise<void> {
  await goTo(page, publicUrl + path)
  await page.fill('#email', email)
  await page.fill('#password', password)
  await page.click('main form button')
}

/** Makes an account by an invite, in the browser, and leaves it logged in. */
async function joinAs(page: Page, email: string): Promise<void> {
  await goTo(page, await newInvite(email))
  await page.fill('#name', 'Ada')
  await page.fill('#password', memberPassword)
  await page.click('main form button')
  await page.waitForURL('**/account?notice=joined')
}

const heading = (page: Page): Promise<string | null> => page.textContent('h1')

describe.each([
  ['phone', { width: 320, height: 640 }],
  ['desktop', { width: 1280, height: 800 }],
] as const)('on a %s', (name, viewport) => {
  let browser: TestBrowser
  let page: Page
  beforeEach(async () => {
    browser = await chromium.open(viewport)
    page = browser.page
  })
  afterEach(async () => {
    const strays = browser.requests.filter((url) => !url.startsWith(publicUrl) && !url.startsWith('data:'))
    const complaints = browser.complaints.filter((one) => !refusedPage.test(one))
    await browser.close()
    expect({ strays, complaints }).toEqual({ strays: [], complaints: [] })
  })
  const look = async (what: string) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}-${what}-${colorScheme}.png`), fullPage: true })
    }
    expect(await page.evaluate(hardToUse)).toEqual([])
  }
  const address = (who: string) => `${who}-${name}@example.com`

  test('a wrong password is told, and the right one leads to where one wanted', async () => {
    await logIn(page, { ...admin, password: 'wrong' }, '/account/sessions')
    expect(await page.textContent('[role=alert]')).toContain('The e-mail or the password is wrong.')
    expect(await page.inputValue('#email')).toBe(admin.email)
    expect(await page.evaluate('document.activeElement.id')).toBe('password')
    await look('login-wrong')
    await page.fill('#password', admin.password)
    await page.click('main form button')
    expect(await heading(page)).toBe('Sessions')
    await look('sessions')
    await goTo(page, `${publicUrl}/account`)
    await look('account')
    await page.click('text=Log out')
    expect(await page.textContent('[role=status]')).toContain('You are logged out.')
  })

  test('the keyboard is enough', async () => {
    await goTo(page, `${publicUrl}/login`)
    await page.locator('#email:focus').waitFor()
    await page.keyboard.type(admin.email)
    await page.keyboard.press('Tab')
    await page.keyboard.type(admin.password)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/account')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
    const seen: string[] = []
    for (let step = 0; step < 5; step++) {
      await page.keyboard.press('Tab')
      seen.push(await page.evaluate<string>('document.activeElement.ariaLabel ?? document.activeElement.textContent'))
    }
    expect(seen).toEqual(['Account', 'Log out', 'Change the password', 'Set up two-factor sign-in', 'Show sessions'])
  })

  test('cpctl login is confirmed, and the device is the user then', async () => {
    const home = mkdtempSync(join(tmpdir(), 'cpctl-home-'))
    const said = join(home, 'said')
    writeFileSync(said, '')
    const { argv, env } = cpd.cpctlCommand(['login', '--device'])
    const { CPCTL_TOKEN: _, ...ours } = env
    const own = { ...ours, XDG_CONFIG_HOME: home }
    const login = spawnProcess(argv, { cwd: home, env: own, stdout: { appendTo: said }, stderr: 'stdout' })
    const output = () => readFileSync(said, 'utf8')
    const url = await until('the address is shown', () => /http\S+\/device\?code=\S+/.exec(output())?.[0])
    expect(url).toMatch(new RegExp(`^${publicUrl}/device\\?code=[A-Z]{4}-[A-Z]{4}$`))
    await logIn(page, admin, new URL(url).pathname + new URL(url).search)
    expect(await heading(page)).toBe('Let this device in?')
    expect(await page.textContent('.code')).toBe(new URL(url).searchParams.get('code'))
    expect(output()).toContain(new URL(url).searchParams.get('code') ?? 'no code')
    expect(await page.textContent('dl')).toContain('cpctl on ')
    await look('device')
    await page.click('button[value=approve]')
    expect(await heading(page)).toBe('The device is logged in')
    await look('device-done')
    expect((await login.exited).exitCode).toBe(0)
    const cpctl = (...args: string[]) => runProcess([argv[0] ?? '', ...args], { cwd: home, env: own })
    expect((await cpctl('whoami')).stdout).toContain('login confirmed in a browser')
    await goTo(page, `${publicUrl}/account/sessions`)
    expect(await page.textContent('main')).toContain('cpctl on ')
    expect((await cpctl('logout')).exitCode).toBe(0)
    await page.reload()
    expect(await page.textContent('main')).not.toContain('cpctl on ')
    rmSync(home, { recursive: true, force: true })
  })

  test('a device that is refused is told so', async () => {
    const grant = await cpd.api<{ user_code: string; device_code: string }>('/device-grant', { method: 'POST', json: {} })
    await logIn(page, admin, '/device')
    await page.fill('#code', 'wrong')
    await page.click('main form button')
    expect(await page.textContent('[role=alert]')).toContain('No device waits with this code.')
    await look('device-code')
    await page.fill('#code', grant.body.user_code.toLowerCase().replace('-', ' '))
    await page.click('main form button')
    await page.click('button[value=deny]')
    expect(await heading(page)).toBe('The device was refused')
  })

  test('an invitation becomes an account, and is good once', async () => {
    const url = await newInvite(address('invited'))
    await goTo(page, url)
    expect(await heading(page)).toBe('Join Default')
    await page.fill('#name', 'Ada')
    await page.fill('#password', memberPassword)
    await look('invite')
    await page.click('main form button')
    await page.waitForURL('**/account?notice=joined')
    expect(await page.textContent('main')).toContain(address('invited'))
    expect(await page.textContent('[aria-labelledby=workspaces]')).toContain('developer')
    await goTo(page, url)
    expect(await heading(page)).toBe('This invitation cannot be used')
    await goTo(page, await newInvite(address('another')))
    expect(await page.textContent('main')).toContain('You are logged in with another address.')
    await page.click('text=Log out and go on')
    expect(await heading(page)).toBe('Join Default')
  })

  test('two-factor sign-in is set up with the app, and wanted at the next login', async () => {
    await joinAs(page, address('second'))
    await page.click('text=Set up')
    await page.fill('#password', memberPassword)
    await page.click('main form button')
    const secret = ((await page.textContent('p.code')) ?? '').replaceAll(' ', '')
    expect(await page.getAttribute('svg.qr', 'aria-label')).toBe('QR code of the key')
    await page.fill('#code', '000000')
    await page.click('main form button')
    expect(await page.textContent('[role=alert]')).toContain('The code is not the one of this moment.')
    await look('two-factor')
    await page.fill('#code', totpAt(secret, Date.now()))
    await page.click('main form button')
    const codes = await page.locator('.codes li').allTextContents()
    expect(codes.length).toBeGreaterThanOrEqual(8)
    await look('recovery-codes')
    await page.click('text=Log out')
    await logIn(page, { email: address('second'), password: memberPassword }, '/account/password')
    expect(await heading(page)).toBe('Enter the code')
    expect(await page.content()).not.toContain(memberPassword)
    await page.fill('#otp', '000000')
    await page.click('main form button')
    expect(await page.textContent('[role=alert]')).toContain('The code is wrong')
    await look('login-code')
    await page.fill('#otp', nextTotp(secret))
    await page.click('main form button')
    expect(await heading(page)).toBe('Change the password')
    await goTo(page, `${publicUrl}/account/two-factor`)
    await page.click('text=Switch it off')
    await page.fill('#password', memberPassword)
    await page.fill('#otp', codes[0] ?? '')
    await page.click('main form button')
    expect(await page.textContent('[role=status]')).toContain('Two-factor sign-in is off.')
  })

  test('a link sets a new password, once', async () => {
    await joinAs(page, address('forgetful'))
    await page.click('text=Log out')
    await page.click('text=Forgot your password?')
    await page.fill('#email', address('forgetful'))
    await look('reset')
    await page.click('main form button')
    expect(await page.textContent('[role=status]')).toContain('This server sends no mail.')
    const members = await cpd.api<{ teamMember: { id: string; email: string } }[]>('/team-members?limit=100')
    const member = members.body.find(({ teamMember }) => teamMember.email === address('forgetful'))
    const link = await cpd.api<{ url: string }>(`/team-members/${member?.teamMember.id}/password-reset`, { method: 'POST' })
    await goTo(page, link.body.url)
    await page.fill('#password', 'a third horse battery')
    await look('new-password')
    await page.click('main form button')
    expect(await page.textContent('[role=status]')).toContain('The new password is set')
    await page.fill('#email', address('forgetful'))
    await page.fill('#password', 'a third horse battery')
    await page.click('main form button')
    expect(await heading(page)).toBe('Your account')
    await goTo(page, link.body.url)
    await page.fill('#password', 'a fourth horse battery')
    await page.click('main form button')
    expect(await page.textContent('[role=alert]')).toContain('used before')
  })
})
