import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium, type Page, type ViewportSize } from 'playwright-core'
import { runProcess } from '../../server/platform/process/spawn.ts'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path))
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const NETWORK_CHANGED = 'ERR_NETWORK_CHANGED'

/** Runs in the page. */
const reportViolations = `addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`

/** A page with cookies and storage of its own, with everything it asked for and everything it complained about. */
export interface TestBrowser {
  page: Page
  /** URLs of all requests, those of `data:` and `blob:` included. */
  requests: string[]
  /** Errors and warnings of the console, uncaught errors, dialogs, and violations of the content security policy. */
  complaints: string[]
  close(): Promise<void>
}

/** A headless Chromium: its start takes longer than most pages, which know nothing of each other. */
export interface TestChromium {
  open(viewport: ViewportSize): Promise<TestBrowser>
  close(): Promise<void>
}

export interface TestBrowserOptions {
  /** File with the PEM of an authority that it trusts, as it does those of the world. */
  trustedRoot?: string
  /** Host names that lead to this machine. */
  localHosts?: readonly string[]
}

/** A page in a Chromium of its own. */
export async function openTestBrowser(viewport: ViewportSize, options: TestBrowserOptions = {}): Promise<TestBrowser> {
  const started = await startChromium(options)
  return { ...(await started.open(viewport)), close: started.close }
}

export async function startChromium({ trustedRoot, localHosts = [] }: TestBrowserOptions = {}): Promise<TestChromium> {
  if (executablePath === undefined) throw new Error('Chromium is not installed. Debian: apt install chromium')
  const home = mkdtempSync(join(tmpdir(), 'cpd-chromium-'))
  if (trustedRoot !== undefined) await trust(home, trustedRoot)
  const rules = localHosts.map((host) => `MAP ${host} 127.0.0.1`).join(',')
  const args = [...quiet, ...(rules === '' ? [] : [`--host-resolver-rules=${rules}`])]
  const browser = await chromium.launch({ executablePath, headless: true, args, env: { ...process.env, HOME: home } })
  return {
    open: async (viewport) => await openIn(await browser.newContext({ viewport })),
    async close() {
      await browser.close()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

async function openIn(context: BrowserContext): Promise<TestBrowser> {
  const page = await context.newPage()
  const requests: string[] = []
  const complaints: string[] = []
  context.on('request', (request) => requests.push(request.url()))
  page.on('console', (message) => {
    const isOurs = !message.text().includes(NETWORK_CHANGED)
    if (isOurs && ['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.addInitScript({ content: reportViolations })
  return { page, requests, complaints, close: () => context.close() }
}

/** Puts an authority into the certificate database that Chromium reads on Linux. */
async function trust(home: string, rootFile: string): Promise<void> {
  const folder = join(home, '.pki/nssdb')
  mkdirSync(folder, { recursive: true })
  const certutil = async (...args: string[]) => {
    const { exitCode, stderr } = await runProcess(['certutil', '-d', `sql:${folder}`, ...args], { env: { PATH: process.env.PATH ?? '' } })
    if (exitCode !== 0) throw new Error(`certutil failed: ${stderr}`)
  }
  await certutil('-N', '--empty-password').catch((cause) => {
    throw new Error('certutil is needed. Debian: apt install libnss3-tools', { cause })
  })
  await certutil('-A', '-n', 'authority of the tests', '-t', 'C,,', '-i', rootFile)
}

const MAX_ATTEMPTS = 50

/**
 * Goes to a page. The browser drops every connection when an interface comes or goes on the machine, as with each instance of any `cpd` on
 * it: then it is tried again.
 */
export async function goTo(page: Page, url: string): ReturnType<Page['goto']> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await page.goto(url)
    } catch (error) {
      if (
        attempt === MAX_ATTEMPTS ||
        !(error instanceof Error && (error.message.includes(NETWORK_CHANGED) || error.message.includes('chrome-error:')))
      )
        throw error
      await page.waitForTimeout(100)
    }
  }
}

/** The outcome of an async function's text in the page, with the same patience. */
export function evaluateUntilItWorks<T>(page: Page, attempt: string): Promise<T> {
  return page.evaluate<T>(`(async () => {
    for (let left = ${MAX_ATTEMPTS}; ; left--) {
      try {
        return await (${attempt})()
      } catch (error) {
        if (left === 1) throw error
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  })()`)
}
