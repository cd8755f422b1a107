/** TXT records of DNS-01 are set by `<hook> present|cleanup <record name> <value>`, and written down before, so that a dead control plane's are removed. */

import type { Database } from 'bun:sqlite'
import { messageOf } from '../../../../shared/error.ts'
import { runProcess } from '../../../platform/process/spawn.ts'
import { describeError } from '../../../platform/server-log.ts'
import type { EdgeContext } from '../../context.ts'
import { AcmeProblem } from './problem.ts'

/** Some DNS services take minutes until a record is seen everywhere. */
const HOOK_TIMEOUT_MS = 5 * 60_000
const MAX_OUTPUT_BYTES = 16 * 1024
const MAX_SHOWN_CHARS = 300
/** Nothing of our environment is handed on: it holds our own secrets. */
const hookEnv = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }

export interface TxtRecord {
  name: string
  value: string
}

type HookContext = Pick<EdgeContext, 'db' | 'now' | 'log' | 'stopping'>

/** Sets a record. @throws AcmeProblem `dnsHook` when the program fails or takes too long. */
export async function presentRecord(context: HookContext, hook: string, { name, value, signal }: TxtRecord & { signal: AbortSignal }) {
  context.db
    .query('INSERT OR REPLACE INTO dns_challenges (record_name, value, created_at) VALUES (?, ?, ?)')
    .run(name, value, context.now())
  await runHook(hook, ['present', name, value], signal)
}

/** Removes a record. Failures are logged, and the next start tries again. */
export async function cleanUpRecord(context: HookContext, hook: string, { name, value }: TxtRecord): Promise<void> {
  try {
    await runHook(hook, ['cleanup', name, value], context.stopping)
    context.db.query('DELETE FROM dns_challenges WHERE record_name = ? AND value = ?').run(name, value)
  } catch (error) {
    if (!context.stopping.aborted) context.log.error('DNS record not removed', { record: name, ...describeError(error) })
  }
}

export const leftRecords = (db: Database): TxtRecord[] =>
  db.query<TxtRecord, []>('SELECT record_name AS name, value FROM dns_challenges').all()

async function runHook(hook: string, args: string[], signal: AbortSignal): Promise<void> {
  const options = { env: hookEnv, timeoutMs: HOOK_TIMEOUT_MS, maxOutputBytes: MAX_OUTPUT_BYTES, signal }
  const { exitCode, stderr, stdout } = await runProcess([hook, ...args], options).catch((cause) => {
    signal.throwIfAborted()
    throw new AcmeProblem('dnsHook', messageOf(cause), { cause })
  })
  if (exitCode === 0) return
  const said = (stderr.trim() || stdout.trim()).slice(-MAX_SHOWN_CHARS)
  throw new AcmeProblem('dnsHook', `${args[0]} ended with ${exitCode ?? 'a signal'}${said === '' ? '' : `: ${said}`}`)
}
