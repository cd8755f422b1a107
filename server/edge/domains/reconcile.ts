/** What is due stands in the domain's row, so this holds no state; each start brings routes and certificates up to all rows again. */

import { recordEvent } from '../../apps/events/store.ts'
import { hostOf } from '../../apps/services/addresses.ts'
import { type StoredService, serviceById } from '../../apps/services/store.ts'
import { publicAddressesOf } from '../../platform/outgoing/public-addresses.ts'
import type { EdgeContext } from '../context.ts'
import { observeDns } from './observation.ts'
import { recordsFor } from './present.ts'
import { createResolver } from './resolver.ts'
import { nextCheckAt } from './schedule.ts'
import type { Semaphore } from './semaphore.ts'
import { domainById, isSharedWithOthers, markVerified, type StoredDomain, saveCheck } from './store.ts'
import { verifyDomain } from './verification.ts'

/** Returns when the next check is due, in milliseconds since 1970; undefined when none is. */
export async function reconcileDomain(context: EdgeContext, semaphore: Semaphore, domainId: string): Promise<number | undefined> {
  const domain = domainById(context.db, domainId)
  const service = domain && serviceById(context.db, domain.serviceId)
  if (domain === undefined || service === undefined || service.deletedAt !== null) {
    await publishChange(context)
    return undefined
  }
  const dueAt = nextCheckAt(domain, context.now())
  if (dueAt === undefined || dueAt > context.now()) return dueAt
  const isNew = await semaphore(() => checkDns(context, service, domain))
  context.stopping.throwIfAborted()
  if (isNew) await publishChange(context)
  const after = domainById(context.db, domainId)
  return after && nextCheckAt(after, context.now())
}

async function checkDns(context: EdgeContext, service: StoredService, domain: StoredDomain): Promise<boolean> {
  const { db, config } = context
  const beganAt = context.now()
  const host = hostOf(context, service.slug)
  const resolver = createResolver({ server: config.CP_DNS_RESOLVER })
  const observed = await observeDns(resolver, { name: domain.name, end: host }, context.stopping)
  context.stopping.throwIfAborted()
  return db.transaction(() => {
    const check = verifyDomain(observed, {
      name: domain.name,
      host,
      baseDomain: config.CP_BASE_DOMAIN,
      addresses: publicAddressesOf(config),
      challenge: domain.challenge,
      isShared: isSharedWithOthers(db, domain.registrable, service.workspaceId),
      records: recordsFor(context, service, domain),
    })
    const now = context.now()
    saveCheck(db, domain.id, { check, beganAt, now })
    const isNew = check.outcome === 'verified' && markVerified(db, domain.id, now)
    if (isNew) recordEvent(db, { owner: service, type: 'custom_domain_verified', details: { name: domain.name }, now })
    return isNew
  })()
}

async function publishChange(context: EdgeContext): Promise<void> {
  context.work.poke('certificates')
  await context.routes.publish()
}
