import { runProcess } from '../../platform/process/spawn.ts'
import { SYSTEM_PATH } from '../../platform/process/system-tools.ts'
import { isOlder } from './own.ts'

/** The first that keeps prepared statements apart when it pools transactions (PgBouncer's change log). */
const OLDEST = '1.21'
const VERSION_TIMEOUT_MS = 5000

/** The PgBouncer of this machine, or why there is none that can be used, as a sentence. */
export type Pooler = { path: string; version: string } | { missing: string }

/** `named` is the path that a setting gives. */
export async function findPooler(named: string | undefined): Promise<Pooler> {
  const path = named ?? Bun.which('pgbouncer', { PATH: SYSTEM_PATH }) ?? undefined
  if (path === undefined)
    return {
      missing: `Pooling needs PgBouncer ${OLDEST} or newer on the server, which has none. Its operator can install the package pgbouncer and restart cpd.`,
    }
  const said = await runProcess([path, '--version'], { timeoutMs: VERSION_TIMEOUT_MS }).catch(() => undefined)
  const version = /^PgBouncer (\d+(?:\.\d+)+)/.exec(said?.stdout ?? '')?.[1]
  if (said?.exitCode !== 0 || version === undefined) return { missing: `Pooling needs PgBouncer, and ${path} of the server does not run.` }
  if (isOlder(version, OLDEST))
    return {
      missing: `Pooling needs PgBouncer ${OLDEST} or newer. The server has ${version}; its operator can name another in CP_PGBOUNCER_PROGRAM.`,
    }
  return { path, version }
}
