import type { Database } from 'bun:sqlite'
import type { HttpSettings } from '../http/settings.ts'
import type { Machine } from '../platform/machine.ts'
import type { Mailer } from '../platform/mail/mailer.ts'
import type { Sealer } from '../platform/secrets/seal.ts'
import type { ServerLog } from '../platform/server-log.ts'
import type { PlatformSettings } from '../platform/settings/rows.ts'
import type { Clock } from '../platform/work/clock.ts'
import type { Leases } from '../platform/work/leases.ts'
import type { Poke } from '../platform/work/poke.ts'
import type { AuditLog } from './audit-chain/log.ts'
import type { IdentitySettings } from './settings.ts'
import type { Throttle } from './throttle/throttle.ts'

export interface IdentityContext extends Clock {
  readonly config: IdentitySettings & HttpSettings & PlatformSettings
  readonly publicUrl: string
  readonly db: Database
  readonly sealer: Sealer
  readonly audit: AuditLog
  readonly log: ServerLog
  readonly mailer: Mailer
  readonly logins: Throttle
  readonly machine: Machine
  readonly uploads: Pick<Leases, 'countOf'>
  readonly shells: Pick<Leases, 'countOf'>
  readonly work: { readonly poke: Poke<'workspace'> }
  /** Aborts when the control plane stops: what is under way ends, and goes on at the next start. */
  readonly stopping: AbortSignal
}
