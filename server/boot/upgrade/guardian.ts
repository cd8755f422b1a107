/**
 * The old control plane as the guardian of the new one. It closes its databases, keeps the data directory locked, and runs the new executable
 * as its child on the real data, while its own executable still stands at its path. Only when the new one is healthy does it take the path,
 * and this process becomes it by execve: same pid, so whoever supervises us sees one process. A new version that fails is killed, what it
 * has migrated is put back, and this process becomes the old version again. The child ends with this process; repair.ts does the rest.
 */

import { rmSync } from 'node:fs'
import { messageOf } from '../../../shared/error.ts'
import { lockDataDir } from '../../platform/files/lock.ts'
import type { Paths } from '../../platform/paths.ts'
import { replaceProcess, type SpawnedProcess, spawnProcess } from '../../platform/process/spawn.ts'
import { describeError, type ServerLog } from '../../platform/server-log.ts'
import { refreshControl, schemaVersionsOf } from './backup.ts'
import { awaitHealthy, type Sample, takeSamples } from './health.ts'
import { type UpgradeJournal, writeJournal } from './journal.ts'
import { rollBack } from './repair.ts'
import { install } from './staged.ts'

export const TRIAL_FLAG = '--trial'

export interface Guardianship {
  paths: Paths
  journal: UpgradeJournal
  serveArguments: readonly string[]
  environment: Record<string, string>
  healthTimeoutMs: number
  log: ServerLog
  closeServer: () => Promise<void>
}

const STOP_TIMEOUT_MS = 20_000
const STANDARD_OUTPUT = 1
const STANDARD_ERROR = 2

/** Does not return: this process becomes the new version, or the old one again. */
export async function upgradeInPlace(guardianship: Guardianship): Promise<never> {
  const { paths, journal, serveArguments, environment, log, closeServer } = guardianship
  try {
    const samples = await takeSamples(paths).catch(() => [])
    const intended = writeJournal(paths.upgradeJournal, { ...journal, step: 'trial' })
    await closeServer()
    const lock = lockDataDir(paths.lock, paths.data)
    await tryNew(guardianship, intended, samples)
    lock.release()
  } catch (error) {
    // The journal says how far it got, and the start that follows goes back from there.
    log.error('upgrade failed', describeError(error))
  }
  try {
    return replaceProcess([journal.executable, ...serveArguments], environment)
  } catch (error) {
    log.error('the control plane ends', describeError(error))
    return process.exit(1)
  }
}

async function tryNew(guardianship: Guardianship, journal: UpgradeJournal, samples: readonly Sample[]): Promise<void> {
  const { paths, serveArguments, environment, log } = guardianship
  if (journal.backup !== undefined) await refreshControl(paths, journal.backup)
  const recorded = writeJournal(paths.upgradeJournal, { ...journal, schema: schemaVersionsOf(paths) })
  const child = spawnProcess([journal.staged, ...serveArguments, TRIAL_FLAG], {
    env: environment,
    stdin: 'pipe',
    stdout: STANDARD_OUTPUT,
    stderr: STANDARD_ERROR,
  })
  endTogether(child)
  const failure = await whyUnhealthy(guardianship, child, samples)
  if (failure === undefined) {
    writeJournal(paths.upgradeJournal, { ...recorded, step: 'commit' })
    install(journal.staged, journal.executable)
    await stop(child)
  } else {
    child.kill('SIGKILL')
    await child.exited
    await rollBack(paths, recorded, failure)
    log.error('upgrade rolled back', { from: journal.from, to: journal.to, reason: failure })
  }
  rmSync(paths.upgradeTrial, { force: true })
}

async function whyUnhealthy(
  { paths, journal, healthTimeoutMs }: Guardianship,
  child: SpawnedProcess,
  samples: readonly Sample[],
): Promise<string | undefined> {
  const given = new AbortController()
  const timer = setTimeout(() => given.abort(new Error(`it was not healthy within ${healthTimeoutMs / 1000} s`)), healthTimeoutMs)
  void child.exited.then(({ exitCode, signal }) => given.abort(new Error(`it ended with ${signal ?? `exit code ${exitCode}`}`)))
  try {
    await awaitHealthy({ paths, pid: child.pid, version: journal.to, samples, signal: given.signal })
    return undefined
  } catch (error) {
    return messageOf(error)
  } finally {
    clearTimeout(timer)
  }
}

async function stop(child: SpawnedProcess): Promise<void> {
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  await child.exited
  clearTimeout(timer)
}

/** Whoever ends us now ends the trial; the next start goes back or on. */
function endTogether(child: SpawnedProcess): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.removeAllListeners(signal)
    process.on(signal, () => {
      child.kill('SIGKILL')
      process.exit(0)
    })
  }
}
