import type { Database } from 'bun:sqlite'
import { tableOf } from '../../../platform/db/table.ts'

/** A webhook of one repository, as it is kept. Times are milliseconds since 1970. */
export interface StoredHook {
  installationId: string
  /** owner/name */
  repo: string
  /** The host's id; null until it is known that there is one. */
  hookId: string | null
  problem: string | null
  attempts: number
  nextAttemptAt: number
}

const hooks = tableOf<StoredHook>('source_host_hooks', {
  installationId: 'installation_id',
  repo: 'repo',
  hookId: 'hook_id',
  problem: 'problem',
  attempts: 'attempts',
  nextAttemptAt: 'next_attempt_at',
})

/** Webhooks that an installation has or is to have, by name. */
export const hooksOf = (db: Database, installationId: string): StoredHook[] =>
  hooks.all(db, 'WHERE installation_id = $installationId ORDER BY repo', { installationId })

/** Writes down that there is to be one. One that is there stays as it is. */
export const wantHook = (db: Database, { installationId, repo }: Pick<StoredHook, 'installationId' | 'repo'>, now: number): void =>
  void hooks.insert(db, { installationId, repo, attempts: 0, nextAttemptAt: now }, 'ON CONFLICT DO NOTHING')

/** Changes what is named. */
export const changeHook = (db: Database, { installationId, repo }: StoredHook, change: Partial<StoredHook>): void =>
  void hooks.update(db, { installationId, repo }, change)

/** Lets all be tried at once that a host has refused. */
export const retryHooks = (db: Database, installationId: string, now: number): void =>
  void hooks.update(db, { installationId }, { attempts: 0, nextAttemptAt: now })

/** Forgets one that is not at the host any more. */
export const forgetHook = (db: Database, { installationId, repo }: StoredHook): void => void hooks.remove(db, { installationId, repo })
