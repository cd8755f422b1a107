import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'

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

/** Runs in the page. */
const reportViolations = `addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`

/** A page in a fresh headless Chromium, with everything it asked for and everything it complained about. */
export interface TestBrowser {
  page: Page
  /** URLs of all requests, those of `data:` and `blob:` included. */
  requests: string[]
  /** Errors and warnings of the console, uncaught errors, dialogs, and violations of the content security policy. */
  complaints: string[]
  close(): Promise<void>
}

export async function openTestBrowser(viewport: { width: number; height: number }): Promise<TestBrowser> {
  if (executablePath === undefined) throw new Error('Chromium is not installed. Debian: apt install chromium')
  const profile = mkdtempSync(join(tmpdir(), 'cpd-chromium-'))
  const context = await chromium.launchPersistentContext(profile, { executablePath, headless: true, viewport, args: quiet })
  const page = context.pages()[0] ?? (await context.newPage())
  const requests: string[] = []
  const complaints: string[] = []
  context.on('request', (request) => requests.push(request.url()))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.addInitScript({ content: reportViolations })
  return {
    page,
    requests,
    complaints,
    async close() {
      await context.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}
