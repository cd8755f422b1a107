import { existsSync } from 'node:fs'
import type { Paths } from '../../platform/paths.ts'
import { replaceProcess } from '../../platform/process/spawn.ts'
import { describeError, type ServerLog } from '../../platform/server-log.ts'
import { restoreChanged } from './backup.ts'
import { readJournal, type UpgradeJournal, writeJournal } from './journal.ts'
import { repairOf } from './rules.ts'
import { discard, install } from './staged.ts'
import { endForgottenTrial } from './trial-process.ts'

export interface RepairParts {
  paths: Paths
  serveArguments: readonly string[]
  environment: Record<string, string>
  log: ServerLog
}

/**
 * Brings an upgrade to an end that was cut off, before anything is opened and with the data directory locked: back, or on where the new
 * version had proven itself. May put the new executable into this process and not return.
 */
export async function repairUpgrade({ paths, serveArguments, environment, log }: RepairParts): Promise<void> {
  const journal = readJournal(paths.upgradeJournal)
  if (journal === undefined) return
  await endForgottenTrial(paths.upgradeTrial)
  switch (repairOf(journal, existsSync(journal.staged))) {
    case 'discard':
    case 'roll-back':
      await rollBack(paths, journal, 'it was interrupted')
      log.error('upgrade rolled back', { from: journal.from, to: journal.to, reason: 'it was interrupted' })
      return
    case 'install':
      if (!(await isInstalled(paths, journal, log))) return
      log.info('upgrade goes on', { from: journal.from, to: journal.to })
      return replaceProcess([journal.executable, ...serveArguments], environment)
    default:
      return
  }
}

async function isInstalled(paths: Paths, journal: UpgradeJournal, log: ServerLog): Promise<boolean> {
  try {
    install(journal.staged, journal.executable)
    return true
  } catch (error) {
    log.error('upgrade rolled back', { from: journal.from, to: journal.to, ...describeError(error) })
    await rollBack(paths, journal, `${journal.executable} could not be replaced`)
    return false
  }
}

export async function rollBack(paths: Paths, journal: UpgradeJournal, reason: string): Promise<UpgradeJournal> {
  const { backup, schema } = journal
  const restored = backup === undefined || schema === undefined ? [] : await restoreChanged(paths, backup, schema)
  discard(journal.staged)
  const told = restored.length === 0 ? reason : `${reason}; ${restored.join(' and ')} restored as before the upgrade`
  return writeJournal(paths.upgradeJournal, { ...journal, step: 'rolled_back', reason: told })
}

/** The control plane is ready: an upgrade that has replaced the executable is over. Tells which versions, if there was one. */
export function concludeUpgrade(paths: Paths, log: ServerLog): Pick<UpgradeJournal, 'from' | 'to'> | undefined {
  const journal = readJournal(paths.upgradeJournal)
  if (journal?.step !== 'commit') return undefined
  writeJournal(paths.upgradeJournal, { ...journal, step: 'done' })
  log.info('upgraded', { from: journal.from, to: journal.to })
  return { from: journal.from, to: journal.to }
}
