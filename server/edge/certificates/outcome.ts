import { messageOf } from '../../../shared/error.ts'
import type { EventType } from '../../../shared/event.ts'
import { recordEvent } from '../../apps/events/store.ts'
import { serviceById } from '../../apps/services/store.ts'
import { describeError } from '../../platform/server-log.ts'
import type { EdgeContext } from '../context.ts'
import type { Issued } from './acme/order.ts'
import { AcmeProblem } from './acme/problem.ts'
import type { AcmeSettings } from './acme/settings.ts'
import { adviceOn } from './advice.ts'
import { type Backoff, waitMs } from './backoff.ts'
import {
  certificatesFor,
  deleteCertificate,
  keepForRevocation,
  markWarned,
  postponeRevocation,
  replaceCertificate,
  type StoredCertificate,
} from './store/certificates.ts'
import { deleteOrder, forgetUnderWay, orderFor, postponeOrder } from './store/orders.ts'
import { factsOf } from './x509/inspect.ts'

type OutcomeContext = Pick<EdgeContext, 'db' | 'audit' | 'now' | 'log'>

export function keepIssued(context: OutcomeContext, host: string, { certificateId: id, chain, keySealed, directory }: Issued): void {
  const { db, log } = context
  const now = context.now()
  const facts = factsOf(chain)
  const certificate = { id, host, source: 'acme', directory, domainId: null, chain, keySealed, ...facts, createdAt: now } as const
  const expiresAt = isoTime(facts.notAfter)
  db.transaction(() => {
    const order = orderFor(db, host)
    if (order === undefined) return keepForRevocation(db, certificate)
    const isRenewal = certificatesFor(db, host).some(({ source }) => source === 'acme')
    deleteOrder(db, host)
    replaceCertificate(db, certificate)
    const details = { domain: host, issuer: facts.issuer, expiresAt }
    report(context, order.serviceId, { type: isRenewal ? 'certificate_renewed' : 'certificate_issued', details })
    const workspaceId = order.serviceId === null ? undefined : serviceById(db, order.serviceId)?.workspaceId
    const event = isRenewal ? 'certificate.renewed' : 'certificate.issued'
    context.audit.system({ event, ...(workspaceId !== undefined && { workspaceId }), target: id, metadata: details })
  })()
  log.info('certificate obtained', { host, issuer: facts.issuer, expiresAt })
}

interface FailedTry {
  host: string
  settings: AcmeSettings
  backoff: Backoff
}

/** Problems after which the same order is taken up: the authority kept silent and refused nothing. */
const takenUpAfter = new Set(['unreachable', 'timeout', 'rateLimited'])

/** Writes down the failure and the next try. Its owner gets one event for each kind of reason. */
export function keepFailure(context: OutcomeContext, error: unknown, { host, settings, backoff }: FailedTry): void {
  const { db, log } = context
  const problem = asProblem(error)
  const advice = adviceOn(problem.type, { host, settings })
  const lastError = `${advice} (${problem.type}: ${problem.message})`
  const order = orderFor(db, host)
  if (order === undefined) return
  const nextAttemptAt = context.now() + waitMs(order.attempts + 1, problem.retryAfterMs, backoff)
  db.transaction(() => {
    postponeOrder(db, host, { lastError, nextAttemptAt })
    if (!takenUpAfter.has(problem.type)) forgetUnderWay(db, host)
    const isNewReason = order.lastError?.startsWith(advice) !== true
    const details = { domain: host, message: lastError, nextAttemptAt: isoTime(nextAttemptAt) }
    if (isNewReason) report(context, order.serviceId, { type: 'certificate_failed', details })
  })()
  log.error('certificate not obtained', { host, reason: lastError, nextAttemptAt: isoTime(nextAttemptAt), ...unexpected(error) })
}

export function keepRevoked({ db, log }: OutcomeContext, { id, host }: StoredCertificate): void {
  deleteCertificate(db, id)
  log.info('certificate revoked', { host })
}

export function keepUnrevoked(
  context: OutcomeContext,
  error: unknown,
  { certificate, backoff }: { certificate: StoredCertificate; backoff: Backoff },
): void {
  const { id, host, revokeAttempts } = certificate
  const problem = asProblem(error)
  const nextRevokeAt = context.now() + waitMs(revokeAttempts + 1, problem.retryAfterMs, backoff)
  postponeRevocation(context.db, id, nextRevokeAt)
  context.log.error('certificate not revoked', { host, reason: `${problem.type}: ${problem.message}`, ...unexpected(error) })
}

export function warnOfEnd(context: OutcomeContext, certificate: StoredCertificate, serviceId: string | null): void {
  const { id, host, notAfter } = certificate
  const message = `The uploaded certificate of ${host} ends soon. Upload a new one, or remove it, and one is obtained instead.`
  context.db.transaction(() => {
    markWarned(context.db, id, context.now())
    report(context, serviceId, { type: 'certificate_expiring', details: { domain: host, expiresAt: isoTime(notAfter), message } })
  })()
  context.log.error('uploaded certificate ends', { host, expiresAt: isoTime(notAfter) })
}

function report(
  { db, now }: OutcomeContext,
  serviceId: string | null,
  { type, details }: { type: EventType; details: Record<string, unknown> },
): void {
  const service = serviceId === null ? undefined : serviceById(db, serviceId)
  if (service !== undefined) recordEvent(db, { owner: service, type, details, now: now() })
}

const asProblem = (error: unknown): AcmeProblem => (error instanceof AcmeProblem ? error : new AcmeProblem('badAnswer', messageOf(error)))

const unexpected = (error: unknown): Record<string, unknown> => (error instanceof AcmeProblem ? {} : describeError(error))

const isoTime = (ms: number): string => new Date(ms).toISOString()
