import { realpathSync, rmSync, statSync } from 'node:fs'
import { AppError, messageOf } from '../../../shared/error.ts'
import { lockDataDir } from '../../platform/files/lock.ts'
import type { Paths } from '../../platform/paths.ts'
import { processStart } from '../../platform/process/process-start.ts'
import { askBackUp, askStatus, askUpgrade } from '../serve-socket/client.ts'
import type { ServeStatus } from '../serve-socket/operations.ts'
import { backUpLogs, copyForCheck, makeBackupFolder, requireRoomForUpgrade } from './backup.ts'
import { checkCandidate, versionOf } from './candidate.ts'
import { readJournal, type UpgradeJournal, type UpgradeStep, writeJournal } from './journal.ts'
import { backupName, refusalOf, stagedPathOf } from './rules.ts'
import { discard, stage } from './staged.ts'

export interface UpgradeOptions {
  paths: Paths
  file: string
  isForced: boolean
  healthTimeoutMs: number
  confirm: (from: string, to: string) => Promise<boolean>
  report: (line: string) => void
}

export interface UpgradeResult {
  status: 'done' | 'rolled_back'
  from: string
  to: string
  backup: string | undefined
  reason: string | undefined
}

const POLL_MS = 200
/** Time beyond the health time-out, for requests and databases to be closed and for the new version to start for good. */
const END_TIMEOUT_MS = 120_000
const GONE_MS = 30_000

/** Upgrades the running control plane, which once it has taken over goes on without us. @throws AppError when nothing was changed, with the reason. */
export async function requestUpgrade(options: UpgradeOptions): Promise<UpgradeResult> {
  const lock = lockUpgrades(options.paths)
  try {
    const status = await runningServe(options.paths)
    const journal = await prepare(options, status)
    await askUpgrade(options.paths.serveSocket, { healthTimeoutMs: options.healthTimeoutMs })
    return await untilEnded(options, status, journal)
  } finally {
    lock.release()
  }
}

function lockUpgrades(paths: Paths) {
  try {
    return lockDataDir(paths.upgradeLock, paths.data)
  } catch (cause) {
    throw new AppError('conflict', `Another upgrade of ${paths.data} is under way.`, { cause })
  }
}

async function runningServe(paths: Paths): Promise<ServeStatus & { executable: string }> {
  const status = await askStatus(paths.serveSocket).catch((cause) => {
    throw new AppError(
      'unavailable',
      `No cpd serve runs on ${paths.data}. Replace its executable and start it, or name its folder with --data.`,
      {
        cause,
      },
    )
  })
  const { executable } = status
  if (executable === undefined) throw new AppError('bad_request', 'The control plane runs from its sources: pull and start it again.')
  return { ...status, executable }
}

async function prepare(
  options: UpgradeOptions,
  { version: from, executable }: { version: string; executable: string },
): Promise<UpgradeJournal> {
  const { paths, file, isForced, report } = options
  const to = await versionOf(file)
  const refusal = refusalOf({ running: from, offered: to, isForced })
  if (refusal !== undefined) throw new AppError('conflict', refusal)
  if (realpathSync(file) === realpathSync(executable)) {
    throw new AppError('conflict', `${file} is the executable that runs. Put the new one at another path.`)
  }
  await requireRoomForUpgrade(paths, statSync(file).size)
  report(`${file} is cpd ${to}; ${from} runs`)
  const staged = stagedPathOf(executable)
  const startedAt = Date.now()
  const staging = writeJournal(paths.upgradeJournal, { step: 'staging', executable, staged, from, to, startedAt })
  try {
    await stage(file, staged)
    const backup = await makeBackupFolder(paths, backupName(new Date(startedAt), from))
    await askBackUp(paths.serveSocket, backup)
    backUpLogs(paths, backup)
    report(`Databases backed up in ${backup}`)
    await copyForCheck(backup, paths.upgradeCheck)
    const { version } = await checkCandidate(staged, paths.upgradeCheck)
    if (version !== to) throw new AppError('bad_request', `${file} calls itself ${to} at one time and ${version} at another.`)
    report('The new version can work with copies of them')
    if (!(await options.confirm(from, to))) throw new AppError('conflict', 'Not upgraded: not confirmed.')
    return writeJournal(paths.upgradeJournal, { ...staging, backup })
  } catch (error) {
    discard(staged)
    writeJournal(paths.upgradeJournal, { ...staging, step: 'rolled_back', reason: messageOf(error) })
    throw error
  } finally {
    rmSync(paths.upgradeCheck, { recursive: true, force: true })
  }
}

const progress: Record<UpgradeStep, string> = {
  staging: 'Prepared',
  trial: 'The new version is on trial; apps are served meanwhile',
  commit: 'It is healthy and takes its place',
  done: 'It runs',
  rolled_back: 'It is not healthy; the old version comes back',
}

async function untilEnded(options: UpgradeOptions, serve: ServeStatus, { startedAt }: UpgradeJournal): Promise<UpgradeResult> {
  const { paths, healthTimeoutMs, report } = options
  const serveStart = processStart(serve.pid)
  const deadline = Date.now() + healthTimeoutMs + END_TIMEOUT_MS
  let seenAt = Date.now()
  let last: UpgradeStep = 'staging'
  for (;;) {
    const journal = readJournal(paths.upgradeJournal)
    if (journal?.startedAt !== startedAt) throw new AppError('conflict', 'The journal of the upgrade was replaced.')
    if (journal.step !== last) report(progress[journal.step])
    last = journal.step
    const isAnswering = await answers(paths)
    const result = resultOf(journal)
    if (isAnswering && result !== undefined) return result
    const isAlive = isAnswering || processStart(serve.pid) === serveStart
    if (isAlive) seenAt = Date.now()
    if (Date.now() > deadline || Date.now() - seenAt > GONE_MS) throw notEnded(paths, isAlive)
    await Bun.sleep(POLL_MS)
  }
}

function resultOf({ step, from, to, backup, reason }: UpgradeJournal): UpgradeResult | undefined {
  return step === 'done' || step === 'rolled_back' ? { status: step, from, to, backup, reason } : undefined
}

const answers = (paths: Paths): Promise<boolean> =>
  askStatus(paths.serveSocket).then(
    () => true,
    () => false,
  )

const notEnded = (paths: Paths, isAlive: boolean): AppError =>
  new AppError(
    'unavailable',
    isAlive
      ? `The upgrade has not come to its end. Look at the log of cpd serve and at ${paths.upgradeJournal}; apps are served all along.`
      : 'cpd serve was ended in the middle of the upgrade. Start it: it goes on, or back to the old version, by itself. Apps are served all along.',
  )
