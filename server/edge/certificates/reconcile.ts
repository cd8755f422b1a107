/** One run decides (plan.ts), writes the decision down, publishes, and starts what takes time; each end of that makes another run. */

import { describeError } from '../../platform/server-log.ts'
import { createDriver } from '../../platform/work/driver.ts'
import { createPublisher, type Publisher } from '../../platform/work/publisher.ts'
import type { EdgeContext } from '../context.ts'
import { createPendingChallenges, type PendingChallenges } from './acme/challenges.ts'
import { type Authority, createAuthority } from './acme/client.ts'
import { cleanUpRecord, leftRecords } from './acme/dns-hook.ts'
import { obtain } from './acme/order.ts'
import { AcmeProblem } from './acme/problem.ts'
import type { ResponderParts } from './acme/respond.ts'
import { type AcmeSettings, isTlsServed } from './acme/settings.ts'
import { type Backoff, defaultBackoff } from './backoff.ts'
import { createJobPool, type JobPool } from './jobs.ts'
import { keepFailure, keepIssued, keepRevoked, keepUnrevoked, warnOfEnd } from './outcome.ts'
import { type Plan, planCertificates } from './plan.ts'
import { renewSelfSigned } from './self-signed.ts'
import { allCertificates, certificateById, deleteCertificate, markRemoved, type StoredCertificate } from './store/certificates.ts'
import { addOrder, allOrders, deleteOrder, orderFor } from './store/orders.ts'
import { buildCertificateTable } from './table.ts'
import { readWanted, type Wanted } from './wanted.ts'
import { blocksOf } from './x509/inspect.ts'

export interface CertificatesOptions {
  acme: AcmeSettings | undefined
  backoff?: Backoff
  places?: number
}

export interface Certificates {
  poke(): void
  republish(): void
  /** Resolves when nothing is under way, after `context.stopping` has aborted. */
  settled(): Promise<void>
}

/** Orders and revocations at once: one takes seconds of waiting, and authorities bear some tens of requests a second. */
const DEFAULT_PLACES = 16
/** Longest wait; a timer overflows after 24 days. */
const LONGEST_WAIT_MS = 60 * 60 * 1000
const LANE = 'certificates'
/** RFC 5280's reason for a name that is given up. */
const CESSATION_OF_OPERATION = 5

export function createCertificates(context: EdgeContext, options: CertificatesOptions): Certificates {
  const { acme, backoff = defaultBackoff, places = DEFAULT_PLACES } = options
  const { db, stopping: signal, now, after, log } = context
  const challenges = createPendingChallenges()
  const publisher = createCertificatePublisher(context, challenges)
  const driver = createDriver({
    run: reconcile,
    onError: (_, error) => log.error('certificates failed', describeError(error)),
    now,
    after,
    signal,
  })
  const poke = () => driver.poke(LANE)
  const jobs = createJobPool({ places, signal, onEnd: poke })
  const authority = acme === undefined ? undefined : createAuthority(context, acme)
  const parts = authority && {
    context,
    authority,
    challenges,
    publish: publisher.publish,
    dnsReady: once(() => cleanUpLeft(context, authority)),
  }

  async function reconcile(): Promise<number | undefined> {
    const wanted = readWanted(context, acme)
    const certificates = allCertificates(db)
    const plan = planCertificates({ now: now(), wanted, certificates, orders: allOrders(db), directory: acme?.directory })
    applyPlan(context, { plan, wanted, certificates })
    if (plan.remove.length > 0) poke()
    if (!isTlsServed(context.config)) return undefined
    if (plan.isFallbackDue) await renewSelfSigned(context)
    inBackground(publisher.publish())
    for (const host of plan.dropOrders) jobs.cancel(host)
    void parts?.dnsReady()
    if (parts !== undefined) startJobs(plan, { parts, jobs, backoff })
    return Math.min(plan.nextAt ?? Number.POSITIVE_INFINITY, now() + LONGEST_WAIT_MS)
  }

  function inBackground(publication: Promise<void>): void {
    publication.catch((error) => {
      if (!signal.aborted) log.error('certificates not published', describeError(error))
    })
  }

  return {
    poke,
    republish() {
      if (isTlsServed(context.config)) inBackground(publisher.republish())
    },
    settled: async () => {
      await driver.settled()
      await jobs.settled()
    },
  }
}

function createCertificatePublisher({ db, ingress, log, stopping, now, after }: EdgeContext, challenges: PendingChallenges): Publisher {
  return createPublisher({
    what: 'certificates',
    build: () => buildCertificateTable(allCertificates(db), challenges.all(), now()),
    send: (table, version) => ingress.publishCertificates({ ...table, version }),
    log,
    signal: stopping,
    now,
    after,
  })
}

interface Decided {
  plan: Plan
  wanted: Wanted
  certificates: StoredCertificate[]
}

function applyPlan(context: EdgeContext, { plan, wanted, certificates }: Decided): void {
  const { db } = context
  const now = context.now()
  const serviceOf = new Map(wanted.served.map(({ host, serviceId }) => [host, serviceId]))
  db.transaction(() => {
    for (const host of plan.dropOrders) deleteOrder(db, host)
    for (const wish of plan.order) addOrder(db, wish, now)
    for (const id of plan.remove) markRemoved(db, id, now)
    for (const id of plan.forget) deleteCertificate(db, id)
    for (const certificate of certificates) {
      if (plan.warn.includes(certificate.id)) warnOfEnd(context, certificate, serviceOf.get(certificate.host) ?? null)
    }
  })()
}

interface JobParts {
  parts: ResponderParts & { context: EdgeContext }
  jobs: JobPool
  backoff: Backoff
}

function startJobs(plan: Plan, { parts, jobs, backoff }: JobParts): void {
  for (const host of plan.obtain) jobs.start(host, (signal) => obtainFor(parts, host, { signal, backoff }))
  for (const id of plan.revoke) jobs.start(id, (signal) => revoke(parts, id, { signal, backoff }))
}

interface Running {
  signal: AbortSignal
  backoff: Backoff
}

async function obtainFor(parts: JobParts['parts'], host: string, { signal, backoff }: Running): Promise<void> {
  const order = orderFor(parts.context.db, host)
  if (order === undefined) return
  try {
    keepIssued(parts.context, host, await obtain(parts, order, signal))
  } catch (error) {
    if (!signal.aborted) keepFailure(parts.context, error, { host, settings: parts.authority.settings, backoff })
  }
}

/** A certificate is revoked when no ingress serves it any more: browsers that ask the authority would refuse it. */
async function revoke({ context, authority, publish }: JobParts['parts'], id: string, { signal, backoff }: Running): Promise<void> {
  const certificate = certificateById(context.db, id)
  if (certificate === undefined) return
  try {
    await publish()
    const [own = ''] = blocksOf(certificate.chain)
    await authority.talk(signal, (client) => client.revokeCertificate(own, { reason: CESSATION_OF_OPERATION }))
    keepRevoked(context, certificate)
  } catch (error) {
    if (signal.aborted) return
    if (error instanceof AcmeProblem && error.type === 'alreadyRevoked') keepRevoked(context, certificate)
    else keepUnrevoked(context, error, { certificate, backoff })
  }
}

function once(run: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined
  return () => {
    result ??= run()
    return result
  }
}

async function cleanUpLeft(context: EdgeContext, { settings: { dnsHook } }: Authority): Promise<void> {
  if (dnsHook === undefined) return
  await Promise.all(leftRecords(context.db).map((record) => cleanUpRecord(context, dnsHook, record)))
}
