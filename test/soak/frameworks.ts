import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { goTo, openTestBrowser } from '../support/browser.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { until } from '../support/until.ts'
import { type FrameworkApp, frameworkApps } from './apps/framework-apps.ts'
import { type Outcome, progress, secondsSince } from './outcome.ts'

const DEPLOY_MS = 900_000
const SHOWN_MS = 60_000
const SHOWN = 4000
const PAGE = { width: 640, height: 400 }

export interface FrameworksOptions {
  /** Names of apps; all of them where none is named. */
  only: readonly string[]
  /** Folder for a picture of each page; none are kept where it is empty. */
  pictures: string
}

/** Apps as their frameworks' starters make them, deployed on the smallest plan without a setting, and their pages as a browser shows them. */
export async function frameworks({ only, pictures }: FrameworksOptions): Promise<Outcome> {
  const startedAt = performance.now()
  const chosen = frameworkApps.filter(({ name }) => only.length === 0 || only.includes(name))
  const cpd = await startCompiled()
  const failures: string[] = []
  try {
    for (const app of chosen) {
      const outcome = await tryOut(cpd, app, pictures).catch((error: Error) => {
        failures.push(`${app.name}: ${error.message}`)
        return `FAILED: ${error.message}`
      })
      progress(`${app.name}: ${outcome}`)
    }
  } finally {
    await cpd.stop()
  }
  return { summary: `${chosen.length} apps in ${secondsSince(startedAt)} s, ${failures.length} failed`, failures }
}

/** Returns what the build took, in the words of its log. */
async function tryOut(cpd: Compiled, app: FrameworkApp, pictures: string): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-framework-'))
  for (const [path, text] of Object.entries(app.files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  try {
    const rootDir = app.rootDir === undefined ? [] : ['--root-dir', app.rootDir]
    await cpctl(cpd, ['services', 'create', app.name, '--type', app.type, ...rootDir])
    const log = await cpctl(cpd, ['deploy', dir, '--service', app.name, '--no-guard'])
    await until(`${app.name} shows "${app.shows}"`, async () => (await sourceOf(cpd, app)).includes(app.shows), SHOWN_MS)
    if (pictures !== '') await picture(cpd, app, join(pictures, `${app.name}.png`))
    return (
      log
        .split('\n')
        .findLast((line) => line.includes('used in all: '))
        ?.trim() ?? 'deployed'
    )
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Without the remarks that some frameworks put between words. */
const sourceOf = async (cpd: Compiled, { name }: FrameworkApp): Promise<string> =>
  (await (await cpd.appFetch(name, '/')).text()).replaceAll(/<!--.*?-->/g, '')

async function picture(cpd: Compiled, { name }: FrameworkApp, file: string): Promise<void> {
  const host = `${name}.localhost`
  const browser = await openTestBrowser(PAGE, { localHosts: [host] })
  try {
    await browser.page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }))
    await goTo(browser.page, `http://${host}:${cpd.ingressPort}/`)
    await browser.page.screenshot({ path: file })
    if (browser.complaints.length > 0) throw new Error(`its page complains: ${browser.complaints.join('; ')}`)
  } finally {
    await browser.close()
  }
}

async function cpctl(cpd: Compiled, args: string[]): Promise<string> {
  const { argv, env } = cpd.cpctlCommand(args)
  const { exitCode, stdout, stderr } = await runProcess(argv, { env, timeoutMs: DEPLOY_MS })
  if (exitCode !== 0) throw new Error(`cpctl ${args.join(' ')} ended with ${exitCode}: ${(stdout + stderr).slice(-SHOWN)}`)
  return stdout + stderr
}
