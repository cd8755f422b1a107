import { setImmediate } from 'node:timers/promises'
import { forgetEventsBefore } from '../../apps/events/store.ts'
import { forgetOldAttempts } from '../../apps/webhooks/prune.ts'
import { forgetOldKeys } from '../../http/answers/idempotency-store.ts'
import { forgetSpentAnswers } from '../../identity/devices/session-store.ts'
import { forgetOldInvites } from '../../identity/invites/store.ts'
import { forgetEndedSessions } from '../../identity/sessions/store.ts'
import { describeError } from '../../platform/server-log.ts'
import type { Context } from './context.ts'
import { tendStrays } from './strays.ts'

const PERIOD_MS = 60_000
const MIB = 1024 * 1024
const DAY_MS = 24 * 60 * 60 * 1000

const EVENTS_PER_STEP = 500
const EVENT_STEPS = 200

export function startHousekeeping(context: Context): void {
  const timer = setInterval(() => {
    clean(context).catch((error) => context.log.error('housekeeping failed', describeError(error)))
  }, PERIOD_MS)
  context.stopping.addEventListener('abort', () => clearInterval(timer))
}

async function clean(context: Context): Promise<void> {
  const { db, config, logStore, now } = context
  forgetEndedSessions(db, now())
  forgetSpentAnswers(db, now())
  forgetOldKeys(db, now())
  forgetOldInvites(db, now())
  await forgetOldEvents(context)
  await forgetOldAttempts(context)
  await tendStrays(context)
  await context.builder.tidy()
  const retention = { maxAgeDays: config.CP_LOG_RETENTION_DAYS, maxBytesPerService: config.CP_LOG_MAX_MB * MIB }
  await logStore.prune(retention, now())
}

async function forgetOldEvents({ db, config, now, stopping }: Context): Promise<void> {
  const before = now() - config.CP_EVENT_RETENTION_DAYS * DAY_MS
  for (let step = 0; step < EVENT_STEPS && !stopping.aborted; step++) {
    if (forgetEventsBefore(db, { before, count: EVENTS_PER_STEP }) < EVENTS_PER_STEP) return
    await setImmediate()
  }
}
