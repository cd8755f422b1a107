import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CDPSession } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CustomDomain } from '../../shared/custom-domain.ts'
import { copyApp } from '../support/app-folder.ts'
import { evaluateUntilItWorks, goTo, openTestBrowser, type TestBrowser } from '../support/browser.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder, serviceNamed } from '../support/compiled-steps.ts'
import { chooseIngressPorts, type IngressPorts } from '../support/ingress.ts'
import { type Pebble, startPebble } from '../support/pebble.ts'
import { until } from '../support/until.ts'

const APP = 'websocket-sse'
const viewport = { width: 800, height: 400 }
const shots = process.env.CPD_TEST_SCREENSHOTS ?? mkdtempSync(join(tmpdir(), 'cpd-shots-'))

afterAll(() => {
  if (process.env.CPD_TEST_SCREENSHOTS === undefined) rmSync(shots, { recursive: true, force: true })
})

describe.each(['http-01', 'tls-alpn-01'])('a custom domain with a certificate by %s', (challenge) => {
  const domain = `www.shop-by-${challenge}.com`
  let ports: IngressPorts
  let pebble: Pebble
  let cpd: Compiled
  let origin: string
  let home: string
  let rootFile: string

  beforeAll(async () => {
    ports = await chooseIngressPorts()
    origin = `https://${domain}:${ports.https}`
    pebble = await startPebble({ httpPort: ports.http, tlsPort: ports.https })
    home = mkdtempSync(join(tmpdir(), 'cpd-https-'))
    rootFile = join(home, 'root.pem')
    writeFileSync(rootFile, await pebble.issuerRoot())
    cpd = await startCompiled({
      ingressPort: ports.http,
      env: {
        CP_INGRESS_HTTPS: `127.0.0.1:${ports.https}`,
        CP_ACME_DIRECTORY: pebble.directory,
        CP_ACME_ROOT: pebble.rootFile,
        CP_ACME_CHALLENGE: challenge,
        CP_DNS_RESOLVER: pebble.resolver,
        CP_PUBLIC_ADDRESSES: '127.0.0.1',
      },
    })
    const app = copyApp(APP)
    await deployFolder(cpd, app.dir)
    app.remove()
    await pebble.resolve('/add-a', { host: domain, addresses: ['127.0.0.1'] })
    await cpctl(cpd, 'domains', 'add', APP, domain)
    await cpctl(cpd, 'domains', 'verify', APP, domain, '--wait')
    await until('the certificate is there', async () => (await shown()).certificate.status === 'issued', 60_000)
  })

  afterAll(async () => {
    await cpd?.stop()
    await pebble?.close()
    rmSync(home, { recursive: true, force: true })
  })

  async function shown(): Promise<CustomDomain> {
    const { id } = await serviceNamed(cpd, APP)
    return (await cpd.api<CustomDomain>(`/services/${id}/custom-domains/${domain}`)).body
  }

  describe('in a browser that trusts the authority', () => {
    let browser: TestBrowser
    beforeAll(async () => {
      browser = await openTestBrowser(viewport, { trustedRoot: rootFile, localHosts: [domain] })
    })
    afterAll(() => browser?.close())

    test('shows the page without a warning, over HTTP/2', async () => {
      const { page } = browser
      const devtools = await page.context().newCDPSession(page)
      const [answer, state] = await Promise.all([mainAnswer(devtools), securityState(devtools), goTo(page, `${origin}/`)])
      expect(answer).toMatchObject({
        url: `${origin}/`,
        status: 200,
        protocol: 'h2',
        securityState: 'secure',
        securityDetails: { protocol: 'TLS 1.3', issuer: expect.stringContaining('Pebble'), sanList: [domain] },
      })
      expect(state).toMatchObject({ securityState: 'secure', certificateSecurityState: { certificateHasWeakSignature: false } })
      expect(state.certificateSecurityState?.certificateNetworkError).toBeUndefined()
      expect(state.safetyTipInfo).toBeUndefined()
      expect(await page.locator('body').textContent()).toBe(`${APP} 1\n`)
      expect(await page.evaluate<boolean>('isSecureContext')).toBe(true)
      const shot = join(shots, `https-${challenge}.png`)
      await page.screenshot({ path: shot })
      expect(statSync(shot).size).toBeGreaterThan(1_000)
    })

    test('is led from http to https', async () => {
      const answer = await goTo(browser.page, `http://${domain}:${ports.http}/?from=http`)
      expect(answer?.status()).toBe(200)
      expect(browser.page.url()).toBe(`${origin}/?from=http`)
      const redirect = await answer?.request().redirectedFrom()?.response()
      expect([redirect?.status(), redirect?.headers().location]).toEqual([301, `${origin}/?from=http`])
    })

    test('talks over wss and server-sent events from the page', async () => {
      await goTo(browser.page, `${origin}/`)
      const echoed = await evaluateUntilItWorks<string[]>(
        browser.page,
        `() => new Promise((resolve, reject) => {
        const socket = new WebSocket('wss://' + location.host + '/echo')
        const heard = []
        socket.onmessage = ({ data }) => { heard.push(data); if (heard.length === 1) socket.send('over wss'); else resolve(heard) }
        socket.onerror = () => reject(new Error('The socket failed'))
        socket.onclose = () => reject(new Error('The socket was closed'))
      })`,
      )
      expect(echoed).toEqual(['hello 1', 'over wss'])
      const event = await evaluateUntilItWorks<string>(
        browser.page,
        `() => new Promise((resolve, reject) => {
        const source = new EventSource('/events')
        source.onmessage = ({ data }) => { source.close(); resolve(data) }
        source.onerror = () => reject(new Error('The events failed'))
      })`,
      )
      expect(event).toBe('1 1')
    })

    test('has nothing to complain of', () => {
      expect(browser.complaints).toEqual([])
    })
  })

  test('a browser that does not know the authority refuses: the one above does trust, and is not merely lenient', async () => {
    const browser = await openTestBrowser(viewport, { localHosts: [domain] })
    try {
      await expect(goTo(browser.page, `${origin}/`)).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID')
    } finally {
      await browser.close()
    }
  })
})

interface MainAnswer {
  url: string
  status: number
  protocol?: string
  securityState: string
  securityDetails?: { protocol: string; sanList: string[]; issuer: string }
}

/** The next document that the browser is given, as it sees it. */
async function mainAnswer(devtools: CDPSession): Promise<MainAnswer> {
  await devtools.send('Network.enable')
  return await new Promise((resolve) => {
    devtools.on('Network.responseReceived', ({ type, response }) => {
      if (type === 'Document') resolve(response)
    })
  })
}

interface SecurityState {
  securityState: string
  certificateSecurityState?: { certificateNetworkError?: string; certificateHasWeakSignature: boolean }
  safetyTipInfo?: unknown
}

/** What stands beside the address once a page with a certificate is shown. */
async function securityState(devtools: CDPSession): Promise<SecurityState> {
  await devtools.send('Security.enable')
  return await new Promise((resolve) => {
    devtools.on('Security.visibleSecurityStateChanged', ({ visibleSecurityState }) => {
      if (visibleSecurityState.certificateSecurityState !== undefined) resolve(visibleSecurityState)
    })
  })
}
