import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { oauthProblems, type ProviderId } from '../../shared/oauth.ts'
import { goTo, startChromium, type TestBrowser, type TestChromium } from '../support/browser.ts'
import { call } from '../support/client.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { memberPassword } from '../support/members.ts'
import type { ProviderAccount } from '../support/oauth/account-page.ts'
import { ada, grace, katherine, mallory, nobody, type Providers, startProviders } from '../support/oauth/world.ts'

/** The compiled server, the providers, and a browser: for it, they are different sites, as in the world. */
let providers: Providers
let cpd: Compiled
let chromium: TestChromium
let browser: TestBrowser

beforeAll(async () => {
  chromium = await startChromium()
  providers = await startProviders()
  cpd = await startCompiled({
    apiPort: Number(new URL(providers.publicUrl).port),
    env: { ...providers.env, CP_PUBLIC_URL: providers.publicUrl, CP_REGISTRATION: 'open' },
  })
})
afterAll(async () => {
  await chromium.close()
  await cpd.stop()
  await providers.close()
})
beforeEach(async () => {
  browser = await chromium.open({ width: 390, height: 844 })
})
afterEach(() => browser.close())

const names: Record<ProviderId, string> = { github: 'GitHub', google: 'The Company', apple: 'Apple' }
const everyProvider = Object.keys(names) as ProviderId[]

/** At the provider: chooses an account, and lets Apple's form go its way. */
async function choose(page: Page, id: ProviderId, account: ProviderAccount): Promise<void> {
  await page.getByRole('button', { name: account.name }).click()
  if (id === 'apple') await page.getByRole('button', { name: 'Continue' }).click()
}

async function signIn(page: Page, id: ProviderId, account: ProviderAccount): Promise<void> {
  await goTo(page, `${providers.publicUrl}/login`)
  await page.getByRole('link', { name: `Continue with ${names[id]}` }).click()
  await choose(page, id, account)
}

/** Who the browser is signed in as. */
async function whoAmI(page: Page): Promise<{ email: string; name: string; id: string }> {
  await goTo(page, `${providers.publicUrl}/v1/users`)
  return JSON.parse((await page.textContent('body')) ?? '')
}

async function logIn(page: Page, email: string): Promise<void> {
  await goTo(page, `${providers.publicUrl}/login`)
  await page.fill('#email', email)
  await page.fill('#password', memberPassword)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL('**/account')
}

async function register(email: string): Promise<void> {
  const reply = await call(`${cpd.apiUrl}/v1/auth/register`, { json: { email, password: memberPassword, name: 'Registered' } })
  expect(reply.status).toBe(201)
}

describe.each(everyProvider)('with %s, in a browser', (id) => {
  // An address has one account, so each provider is another person's.
  const person = { github: ada, google: grace, apple: katherine }[id]

  test('somebody new gets an account and is signed in', async () => {
    const { page, complaints } = browser
    await signIn(page, id, person)
    await page.waitForURL('**/account')
    expect(await page.textContent('body')).toContain(person.email)
    expect(complaints).toEqual([])
    expect(await whoAmI(page)).toMatchObject({ email: person.email, name: person.name })
  })

  test('somebody who has a password links it on the account page, and signs in with it from then on', async () => {
    const email = `linked-${id}@example.com`
    const { page } = browser
    await register(email)
    await logIn(page, email)
    await page.getByRole('link', { name: `Link ${names[id]}` }).click()
    await choose(page, id, mallory)
    await page.waitForURL('**/account')
    await page.getByRole('button', { name: `Unlink ${names[id]}` }).waitFor()
    const fresh = await chromium.open({ width: 390, height: 844 })
    try {
      await signIn(fresh.page, id, mallory)
      await fresh.page.waitForURL('**/account')
      expect(await whoAmI(fresh.page)).toMatchObject({ email })
    } finally {
      await fresh.close()
    }
  })

  test('somebody who goes back, or whose address is not verified, is told what to do', async () => {
    const { page } = browser
    await goTo(page, `${providers.publicUrl}/login`)
    await page.getByRole('link', { name: `Continue with ${names[id]}` }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    if (id === 'apple') await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL(/\/login\?error=oauth_cancelled/)
    expect(await page.textContent('main')).toContain(oauthProblems.oauth_cancelled)
    await signIn(page, id, nobody)
    await page.waitForURL(/\/login\?error=email_unverified/)
    expect(await page.textContent('main')).toContain(oauthProblems.email_unverified)
  })
})

test('another site cannot have a browser link what is signed in there', async () => {
  const { page } = browser
  await register('clicked@example.com')
  await logIn(page, 'clicked@example.com')
  const evil = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => {
      const link = `<!doctype html><title>Evil</title><a href="${providers.publicUrl}/v1/auth/oauth/github?link=true">A prize</a>`
      return new Response(link, { headers: { 'content-type': 'text/html' } })
    },
  })
  try {
    await goTo(page, `http://127.0.0.1:${evil.port}/`)
    await page.getByRole('link', { name: 'A prize' }).click()
    await page.waitForURL(/\/login\?error=link_needs_login/)
  } finally {
    await evil.stop(true)
  }
})

test('the stand-ins had nothing to complain of', () => {
  expect(providers.github.violations).toEqual([])
  expect(providers.apple.violations).toEqual([])
})
