import { defaultIngressLimits } from '../../server/ingress/limits/limits.ts'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { freePorts } from '../support/free-ports.ts'
import { commandLine, processesOf } from '../support/leftovers.ts'
import { until } from '../support/until.ts'
import { makeUpgradable, type Upgradable } from '../support/upgradable.ts'
import { lostOf, prepareLedger, STORES, type Store, writeThroughApp } from './datastores/ledger.ts'
import { holdOutside, type Outside } from './datastores/outside.ts'
import { type Outcome, progress, secondsSince } from './outcome.ts'

export interface DatastoreUpgradesOptions {
  /** Waits until the ingress before the last upgrade has ended, ten minutes later. */
  isDrained: boolean
}

const UPGRADE_TIMEOUT_MS = 180_000
const DRAINED_MS = 780_000
const REST_WRITES = 200
const WRITERS = 3

/** The steps of one round; a `restart` is that of `cpd serve` alone. */
const steps = ['second', 'restart', 'first', 'broken', 'second', 'restart', 'first'] as const

/**
 * `cpd upgrade` and restarts of `cpd` with databases under load, through the private name and from outside: their processes are the same
 * afterwards, what was acknowledged is there, and no connection from outside is cut before the ingress that has it must end.
 */
export async function datastoreUpgrades({ isDrained }: DatastoreUpgradesOptions): Promise<Outcome> {
  const startedAt = performance.now()
  const versions = await makeUpgradable()
  const app = copyApp('ledger')
  const [httpsPort = 0, postgresPort = 0, keyValuePort = 0] = freePorts(3)
  const env = {
    CP_ACME_DIRECTORY: 'off',
    CP_INGRESS_HTTPS: `127.0.0.1:${httpsPort}`,
    CP_INGRESS_POSTGRES: `127.0.0.1:${postgresPort}`,
    CP_INGRESS_KEY_VALUE: `127.0.0.1:${keyValuePort}`,
  }
  const cpd = await startCompiled({ env, executables: { cpd: versions.installed, cpctl: versions.cpctl } })
  const stopping = new AbortController()
  try {
    await prepareLedger(cpd, app.dir, ['--allow-ip', 'everywhere'])
    const before = serversOf(cpd)
    const acknowledged: Record<Store, Set<number>> = { pg: new Set(), kv: new Set() }
    const { signal } = stopping
    const writers = STORES.flatMap((store) =>
      Array.from({ length: WRITERS }, (_, index) => writeThroughApp(cpd, { store, acknowledged: acknowledged[store], index, signal })),
    )
    const outside = await holdOutside(cpd, { acknowledged, signal })
    const failures: string[] = []
    const mayEndAt = performance.now() + defaultIngressLimits.successionGraceMs
    for (const step of steps) {
      const wanted = acknowledged.pg.size + REST_WRITES
      failures.push(...(await take(cpd, versions, step)))
      await until('the load goes on', () => acknowledged.pg.size > wanted, UPGRADE_TIMEOUT_MS)
      failures.push(...changed(step, before, serversOf(cpd)))
      progress(`${step}: ${acknowledged.pg.size} rows, ${acknowledged.kv.size} keys, ${outside.describe()}`)
    }
    if (isDrained) await drained(outside)
    failures.push(...outside.cutWrongly(mayEndAt))
    stopping.abort()
    await Promise.all([...writers, outside.over])
    for (const store of STORES) failures.push(...(await lostOf(cpd, store, acknowledged[store])))
    const summary = `${steps.length} upgrades and restarts in ${secondsSince(startedAt)} s: ${acknowledged.pg.size} rows and ${acknowledged.kv.size} keys acknowledged, ${outside.describe()}; ${failures.length} failures`
    return { summary, failures }
  } finally {
    stopping.abort()
    app.remove()
    await cpd.stop()
    versions.remove()
  }
}

async function take(cpd: Compiled, versions: Upgradable, step: (typeof steps)[number]): Promise<string[]> {
  if (step === 'restart') {
    await cpd.terminate()
    await cpd.start()
    return []
  }
  const { stdout, stderr } = await runProcess(versions.upgradeCommand(versions[step], cpd.paths.data, '--force'), {
    timeoutMs: UPGRADE_TIMEOUT_MS,
  })
  const status = /"status": *"(\w+)"/.exec(stdout)?.[1]
  await until('the API answers', async () => (await fetch(`${cpd.apiUrl}/api/health`).catch(() => undefined))?.ok, UPGRADE_TIMEOUT_MS)
  return status === (step === 'broken' ? 'rolled_back' : 'done') ? [] : [`The upgrade to ${step} ended with ${status}: ${stderr}`]
}

/** The first processes of all databases and stores. */
function serversOf(cpd: Compiled): string[] {
  const isServer = (line: string) => /\/postgres -D |valkey-server/.test(line)
  return processesOf(cpd.paths.data)
    .filter((pid) => isServer(commandLine(pid)))
    .map((pid) => `${pid} ${commandLine(pid)}`)
    .sort()
}

function changed(step: string, before: readonly string[], after: readonly string[]): string[] {
  if (before.length === 0) return ['No process of a database was found']
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [`After ${step} other processes run: ${before} became ${after}`]
}

/** Connections that were made through the first ingress are told to come again, in words, and in no other way. */
async function drained(outside: Outside): Promise<void> {
  progress('waiting for the end of the ingresses before')
  await until('the first connections have ended', () => outside.firstHaveEnded(), DRAINED_MS)
}
