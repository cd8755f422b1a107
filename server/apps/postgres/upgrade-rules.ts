import { AppError, invalidValue } from '../../../shared/error.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import type { StoredUpgrade } from './upgrade-store.ts'

export const SNAPSHOT_PREFIX = 'upgrade-'

const MIB = 1024 ** 2
const GIB = 1024 ** 3
/** A cluster without content, and its log, stand beside what there is for a moment. */
const NEW_CLUSTER_BYTES = 160 * MIB

export interface WantedVersion {
  name: string
  from: string
  to: string
  majors: readonly string[]
}

/** @throws AppError validation_failed for a version that a database cannot be brought to, saying what can be done. */
export function refuseVersion({ name, from, to, majors }: WantedVersion): void {
  const newer = majors.filter((major) => Number(major) > Number(from))
  const choice = newer.length === 0 ? 'This server has no newer one.' : `It can be brought to ${newer.join(', ')}.`
  if (to === from) throw invalidValue('/version', `${name} is of PostgreSQL ${from} already. ${choice}`)
  if (!majors.includes(to)) throw invalidValue('/version', `This server has no PostgreSQL ${to}. ${choice}`)
  if (Number(to) < Number(from))
    throw invalidValue(
      '/version',
      `No database goes back from PostgreSQL ${from} to ${to}. Make one of that version and import this one, or recover a backup from before its upgrade.`,
    )
}

export interface Room {
  name: string
  contentBytes: number
  freeBytes: number
}

/** Room within the disk of a database. @throws AppError conflict saying how much is missing. */
export function refuseFullDisk(name: string, { usedBytes, sizeBytes }: { usedBytes: number; sizeBytes: number }): void {
  const missing = NEW_CLUSTER_BYTES - (sizeBytes - usedBytes)
  if (missing > 0)
    throw new AppError(
      'conflict',
      `The disk of ${name} lacks ${inMib(missing)} for its upgrade. Make it larger, or take out what nobody needs.`,
    )
}

/** Room on the server's disk for what is kept of a database, or put back. @throws AppError conflict saying how much is missing. */
export function refuseWithoutRoom({ name, contentBytes, freeBytes }: Room, how: 'kept' | 'put back'): void {
  const missing = contentBytes - freeBytes
  const why = how === 'kept' ? `is kept for a day` : `is put back beside what it is now`
  if (missing > 0)
    throw new AppError(
      'conflict',
      `What ${name} is before its upgrade ${why}, which takes ${inGib(contentBytes)} on the server's disk. It has ${inGib(freeBytes)} for that: ${inGib(missing)} are missing.`,
    )
}

const inMib = (bytes: number): string => `${Math.ceil(bytes / MIB)} MiB`
const inGib = (bytes: number): string => `${(Math.ceil((Math.max(0, bytes) / GIB) * 10) / 10).toFixed(1)} GiB`

export const hasWayBack = (upgrade: StoredUpgrade): upgrade is StoredUpgrade & { keptUntil: number } =>
  (upgrade.step === 'settling' || upgrade.step === 'done') && upgrade.keptUntil !== null

/** Since when what is written would be lost. @throws AppError conflict where a database cannot be taken back, saying why. */
export function requireWayBack(
  datastore: Pick<StoredDatastore, 'name' | 'volumeId'>,
  upgrade: StoredUpgrade | undefined,
  now: number,
): StoredUpgrade {
  const { name } = datastore
  const isUpgraded = upgrade !== undefined && ['starting', 'settling', 'done'].includes(upgrade.step)
  if (!isUpgraded) throw new AppError('conflict', `${name} was not upgraded, so there is nothing that it could be taken back to.`)
  const instead = 'A recovery makes a new database of what it was at a moment before its upgrade.'
  if (upgrade.volumeId !== datastore.volumeId)
    throw new AppError('conflict', `The standby of ${name} has taken its place since its upgrade. ${instead}`)
  if (upgrade.step !== 'starting' && (upgrade.keptUntil === null || upgrade.keptUntil <= now))
    throw new AppError(
      'conflict',
      `What ${name} was before its upgrade is kept for a day, or until that is confirmed, and is gone. ${instead}`,
    )
  return upgrade
}

/** What a run of the script comes to. Nobody saw how a run ended that says nothing. */
export type Verdict = { kind: 'done' } | { kind: 'refused'; reason: string } | { kind: 'unknown' }

const REPORT = 'cpd-report'
const MOST_REASON = 1500

/** Reads what the script says: what is fine is left out of why something is not. */
export function verdictIn(output: string): Verdict {
  const lines = output.trimEnd().split('\n')
  const last = lines.at(-1)
  if (last === 'cpd-upgrade: done') return { kind: 'done' }
  if (last !== 'cpd-upgrade: refused') return { kind: 'unknown' }
  const told = lines.slice(0, -1).flatMap((line) => wordsIn(line) ?? [])
  return {
    kind: 'refused',
    reason: told.join(' ').replace(LISTED, '').slice(0, MOST_REASON).trim() || 'pg_upgrade refused, and did not say why.',
  }
}

/** Rows of its report with their results, headings, and where files stand that nobody can reach. */
const NOISE =
  /\s(?:ok|skipped)$|^-+$|^(?:Performing|Failure, exiting|\*|If pg_upgrade fails after|new cluster before continuing|Consult the last|the probable cause)|^\s*\/|^"?\S*pg_upgrade_output/

const LISTED = / ?A list of [\w\s]{1,80} (?:is|are) in the file:?/g

function wordsIn(line: string): string | undefined {
  const text = line.replace(/\s+/g, ' ').trim()
  if (text === '' || NOISE.test(line.trimEnd()) || NOISE.test(text)) return undefined
  if (text.startsWith(`${REPORT}: `)) return `${text.slice(REPORT.length + 2)}:`
  return text.endsWith(' fatal') ? `${text.slice(0, -' fatal'.length)} failed.` : text
}
