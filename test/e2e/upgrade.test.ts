import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readJournal } from '../../server/boot/upgrade/journal.ts'
import { createIngressClient } from '../../server/ingress/control/client.ts'
import { type RunResult, runProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { deployFolder, instancesOf, serviceNamed, settledInstances } from '../support/compiled-steps.ts'
import { copyExecutable } from '../support/copy-executable.ts'
import { freePorts } from '../support/free-ports.ts'
import { commandLine, processesOf } from '../support/leftovers.ts'
import { startLoad } from '../support/load.ts'
import { until } from '../support/until.ts'
import { BROKEN, FIRST, makeUpgradable, SECOND, type Upgradable } from '../support/upgradable.ts'

let versionsOfCpd: Upgradable
let home: string
let installed: string
let first: string
let second: string
let broken: string
let cpd: Compiled
let app: AppFolder
let serviceId: string
let tlsPort: number

beforeAll(async () => {
  versionsOfCpd = await makeUpgradable()
  ;({ home, installed, first, second, broken } = versionsOfCpd)
  const [port = 0] = freePorts(1)
  tlsPort = port
  cpd = await startCompiled({
    executables: { cpd: installed, cpctl: versionsOfCpd.cpctl },
    env: { CP_INGRESS_HTTPS: `127.0.0.1:${port}`, CP_ACME_DIRECTORY: 'off' },
  })
  app = copyApp('slow')
  await deployFolder(cpd, app.dir, ['--env', 'BUILD_MS=0', '--env', 'START_MS=0'])
  serviceId = (await serviceNamed(cpd, 'slow')).id
})

afterAll(async () => {
  app.remove()
  await cpd.stop()
  versionsOfCpd.remove()
})

const upgradeCommand = (file: string, ...flags: string[]): string[] => versionsOfCpd.upgradeCommand(file, cpd.paths.data, ...flags)

const upgrade = (file: string, ...flags: string[]): Promise<RunResult> => runProcess(upgradeCommand(file, ...flags), { timeoutMs: 120_000 })

/** Requests over https without end, every other one on a connection of its own. Gives what failed, and how many there were. */
function startTlsLoad(): { stop(): Promise<{ count: number; failures: string[] }> } {
  let isStopped = false
  let count = 0
  const failures: string[] = []
  const run = async () => {
    while (!isStopped) {
      const keepalive = count++ % 2 === 0
      const answer = await fetch(`https://127.0.0.1:${tlsPort}/`, {
        headers: { host: 'slow.localhost' },
        tls: { rejectUnauthorized: false },
        keepalive,
      }).catch(String)
      const body = typeof answer === 'string' ? answer : `${answer.status} ${await answer.text()}`
      if (!body.startsWith('200 slow ')) failures.push(body)
      await Bun.sleep(10)
    }
  }
  const running = Promise.all([run(), run()])
  return {
    async stop() {
      isStopped = true
      await running
      return { count, failures }
    },
  }
}

async function versions(): Promise<{ api: string; ingress: string }> {
  const health = (await (await fetch(`${cpd.apiUrl}/api/health`)).json()) as { version: string }
  return { api: health.version, ingress: (await createIngressClient(cpd.paths.ingressSocket).status()).version }
}

async function runs(version: string): Promise<void> {
  await until(`${version} runs`, async () => {
    const now = await versions().catch(() => undefined)
    return now?.api === version && now.ingress === version
  })
  expect(readdirSync(home).filter((name) => name.startsWith('cpd.next'))).toEqual([])
  // A process that it is just about to start has its command line for a moment.
  await until('one cpd serve is left', () => {
    const servers = processesOf(cpd.paths.data).map(commandLine)
    return servers.filter((line) => / serve /.test(line)).length === 1
  })
  expect((await instancesOf(cpd, serviceId)).map(({ status }) => status)).toEqual(['running'])
}

test('five upgrades at 100 requests a second, one of them to a broken executable, lose none', async () => {
  const load = startLoad({ port: cpd.ingressPort, host: 'slow.localhost' })
  const tlsLoad = startTlsLoad()
  await load.answered(20)
  const pid = cpd.pid()
  const steps = [
    { file: second, to: SECOND, runs: SECOND },
    { file: first, to: FIRST, runs: FIRST },
    { file: broken, to: BROKEN, runs: FIRST },
    { file: second, to: SECOND, runs: SECOND },
    { file: first, to: FIRST, runs: FIRST },
  ]
  for (const step of steps) {
    const long = cpd.appFetch('slow', '/slow?ms=3000')
    const { stdout, exitCode } = await upgrade(step.file, '--force')
    expect(JSON.parse(stdout)).toMatchObject({ status: step.to === step.runs ? 'done' : 'rolled_back', to: step.to })
    expect(exitCode).toBe(step.to === step.runs ? 0 : 1)
    await runs(step.runs)
    await load.answered(20)
    expect((await long).status).toBe(200)
  }
  await load.stop()
  const overTls = await tlsLoad.stop()
  expect(load.failures()).toEqual([])
  expect(overTls.failures).toEqual([])
  expect(cpd.pid()).toBe(pid)
  expect(process.kill(pid, 0)).toBe(true)
  expect(readdirSync(cpd.paths.backups)).toHaveLength(5)
  console.info(`5 upgrades: ${load.samples.length} requests over http and ${overTls.count} over https, none failed`)
}, 300_000)

test('after an upgrade the next deploy replaces the instances that the old version had started', async () => {
  const [before] = await settledInstances(cpd, serviceId, 1)
  app.setVersion('2')
  await deployFolder(cpd, app.dir)
  const [after] = await settledInstances(cpd, serviceId, 1)
  expect(after?.id).not.toBe(before?.id)
  expect(await (await cpd.appFetch('slow')).text()).toBe('slow 2\n')
})

test.each(['crashes', 'exits', 'hangs', 'is never healthy', 'migrates and is never healthy'])(
  'a version that %s makes way for the old one by itself, and no request is lost',
  async (how) => {
    versionsOfCpd.breakBy(how)
    const { api: version } = await versions()
    const load = startLoad({ port: cpd.ingressPort, host: 'slow.localhost' })
    const { stdout, exitCode } = await upgrade(broken, '--health-timeout', '4')
    expect(JSON.parse(stdout)).toMatchObject({ status: 'rolled_back', from: version, to: BROKEN })
    if (how.startsWith('migrates')) expect(JSON.parse(stdout).reason).toContain('control.db restored')
    expect(exitCode).toBe(1)
    await runs(version)
    await load.answered(10)
    await load.stop()
    expect(load.failures()).toEqual([])
  },
  120_000,
)

test.each([
  [
    'is no program',
    async (path: string) => writeFileSync(path, 'not a program\n', { mode: 0o755 }),
    /no-cpd (does not run|is not an executable)/,
  ],
  [
    'is cut off',
    async (path: string) => truncateSync(await copyOf(path), 60_000_000),
    /no-cpd (does not run|is not an executable|cannot work)/,
  ],
  ['is of another machine', async (path: string) => patch(await copyOf(path), 18, 0xb7), /no-cpd does not run/],
  ['may not be executed', async (path: string) => chmodSync(await copyOf(path), 0o644), /no-cpd does not run/],
  [
    'is another program',
    async (path: string) => writeFileSync(path, '#!/bin/sh\necho 9.9.9\n', { mode: 0o755 }),
    /cannot work with the databases/,
  ],
  ['is older', (path: string) => copyExecutable(resolve('dist/cpd'), path), /is older than/],
])('a file that %s is refused, and nothing has changed', async (_, make, message) => {
  const file = join(home, 'no-cpd')
  await make(file)
  const before = await versions()
  const { stderr, exitCode } = await upgrade(file)
  expect(stderr).toMatch(message)
  expect(exitCode).toBe(1)
  await runs(before.api)
  rmSync(file)
})

async function copyOf(path: string): Promise<string> {
  await copyExecutable(second, path)
  return path
}

function patch(path: string, offset: number, byte: number): void {
  const bytes = readFileSync(path)
  bytes[offset] = byte
  writeFileSync(path, bytes)
}

test('one upgrade at a time', async () => {
  const results = await Promise.all([upgrade(second, '--force'), upgrade(second, '--force')])
  expect(results.map(({ exitCode }) => exitCode).sort()).toEqual([0, 1])
  expect(results.map(({ stderr }) => stderr).join('')).toContain('Another upgrade')
  await runs(SECOND)
}, 120_000)

test('a killed `cpd upgrade` leaves an upgrade that ends without it, or none', async () => {
  const load = startLoad({ port: cpd.ingressPort, host: 'slow.localhost' })
  for (const afterMs of [150, 500, 900]) {
    const command = spawnProcess(upgradeCommand(first, '--force'), {})
    await Bun.sleep(afterMs)
    command.kill('SIGKILL')
    await command.exited
    await until('it is at rest', () => !['trial', 'commit'].includes(readJournal(cpd.paths.upgradeJournal)?.step ?? ''))
    await until('it answers', async () => (await versions().catch(() => undefined)) !== undefined)
  }
  expect((await upgrade(first, '--force')).exitCode).toBe(0)
  await runs(FIRST)
  await load.stop()
  expect(load.failures()).toEqual([])
}, 120_000)

test('cpd serve killed at any moment of an upgrade: the next start goes back or on, and no request is lost', async () => {
  const load = startLoad({ port: cpd.ingressPort, host: 'slow.localhost' })
  let to: string = SECOND
  const ends: string[] = []
  for (const step of ['staging', 'trial', 'trial', 'trial', 'commit', 'commit'] as const) {
    const before = readJournal(cpd.paths.upgradeJournal)?.startedAt
    const command = spawnProcess(upgradeCommand(to === SECOND ? second : first, '--force'), {})
    await until(`it is in step ${step}`, () => {
      const journal = readJournal(cpd.paths.upgradeJournal)
      return journal?.startedAt !== before && (journal?.step === step || journal?.step === 'done')
    })
    await Bun.sleep(Math.random() * (step === 'trial' ? 300 : 60))
    await cpd.kill9()
    command.kill('SIGKILL')
    await command.exited
    await cpd.start()
    const now = (await versions()).api
    const journal = readJournal(cpd.paths.upgradeJournal)
    expect(journal).toMatchObject(now === to ? { step: 'done', to: now } : { step: 'rolled_back', from: now })
    await runs(now)
    ends.push(`${step}: ${journal?.step}`)
    to = now === SECOND ? FIRST : SECOND
  }
  await load.stop()
  expect(load.failures()).toEqual([])
  console.info(`killed upgrades: ${ends.join(', ')}; ${load.samples.length} requests, ${load.failures().length} failed`)
}, 180_000)

test('without a control plane nothing is upgraded, and the way is shown', async () => {
  await cpd.terminate()
  const { stderr, exitCode } = await upgrade(second, '--force')
  expect(stderr).toContain('No cpd serve runs')
  expect(exitCode).toBe(1)
  expect(existsSync(`${installed}.next`)).toBe(false)
  const trial = await runProcess([installed, 'serve', '--data', cpd.paths.data, '--trial'], { input: '' })
  expect(trial.exitCode).toBe(1)
  expect(trial.stdout).toBe('')
  await cpd.start()
})
