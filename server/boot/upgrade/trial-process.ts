import { rmSync } from 'node:fs'
import { AppError } from '../../../shared/error.ts'
import { readIfPresent } from '../../platform/files/read-file.ts'
import { replaceFileSync } from '../../platform/files/replace-file.ts'
import type { Paths } from '../../platform/paths.ts'
import { processStart } from '../../platform/process/process-start.ts'
import { readJournal } from './journal.ts'

const POLL_MS = 10

/**
 * Notes that this process is on trial, before it opens anything: whoever starts after a dead guardian has to end it first.
 * @throws AppError `conflict` when there is no guardian that would hold the data directory for it.
 */
export function noteTrial({ upgradeJournal, upgradeTrial }: Paths): void {
  if (readJournal(upgradeJournal)?.step !== 'trial')
    throw new AppError('conflict', 'No upgrade is under way. Start cpd serve without --trial.')
  replaceFileSync(upgradeTrial, JSON.stringify({ pid: process.pid, startedAt: processStart(process.pid) }))
}

export async function endForgottenTrial(path: string): Promise<void> {
  const text = readIfPresent(path)
  if (text === undefined) return
  const { pid, startedAt } = JSON.parse(text) as { pid: number; startedAt?: string }
  while (startedAt !== undefined && processStart(pid) === startedAt) {
    process.kill(pid, 'SIGKILL')
    await Bun.sleep(POLL_MS)
  }
  rmSync(path, { force: true })
}

/** Ends this process when its guardian is gone, which closes our standard input with it. */
export function endWithGuardian(): void {
  const end = () => process.exit(1)
  process.stdin.on('end', end)
  process.stdin.on('close', end)
  process.stdin.on('error', end)
  process.stdin.resume()
}
