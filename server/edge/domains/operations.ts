import { canonicalHostName, parseDomainName, refuseReservedNames } from '../../../shared/domain.ts'
import { AppError } from '../../../shared/error.ts'
import { traitsOf } from '../../../shared/service-type.ts'
import { recordEvent } from '../../apps/events/store.ts'
import { type StoredService, serviceById } from '../../apps/services/store.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { isWithin } from '../../identity/scopes/scope.ts'
import { newId } from '../../platform/id.ts'
import type { EdgeContext } from '../context.ts'
import { WATCHED_MS } from './schedule.ts'
import { countDomains, deleteDomain, domainNamed, findDomain, insertDomain, requestCheck, type StoredDomain } from './store.ts'

/** Each costs a certificate, and a DNS check each minute while it is new. */
const MAX_DOMAINS_OF_WORKSPACE = 1000
const CHALLENGE_BYTES = 20

/** Adds a domain, which leads nowhere until DNS proves it. @throws AppError validation_failed for no name, conflict for a taken one or an unreachable service. */
export function addDomain(
  context: EdgeContext,
  service: StoredService,
  { text, scope }: { text: string; scope: Actor['scope'] },
): StoredDomain {
  refuseHidden(service)
  const domain = parseDomainName(text)
  refuseReservedNames(domain, { baseDomain: context.config.CP_BASE_DOMAIN, publicHost: new URL(context.publicUrl).hostname })
  const now = context.now()
  const id = newId('customDomain', now)
  const challenge = `cpd-${Buffer.from(crypto.getRandomValues(new Uint8Array(CHALLENGE_BYTES))).toString('hex')}`
  context.db.transaction(() => {
    freeName(context, service, { name: domain.name, scope })
    if (countDomains(context.db, service.workspaceId) >= MAX_DOMAINS_OF_WORKSPACE) {
      throw new AppError('conflict', `This workspace has ${MAX_DOMAINS_OF_WORKSPACE} domains, the most there can be. Remove one first.`)
    }
    insertDomain(context.db, { ...domain, id, serviceId: service.id, challenge, watchedUntil: now + WATCHED_MS, createdAt: now })
    recordEvent(context.db, { owner: service, type: 'custom_domain_added', details: { name: domain.name }, now })
  })()
  context.work.poke('domain', id)
  return requireDomain(context, service, id)
}

export function requestVerification(context: EdgeContext, service: StoredService, idOrName: string): void {
  const { id } = requireDomain(context, service, idOrName)
  requestCheck(context.db, id, context.now())
  context.work.poke('domain', id)
}

export function removeDomain(context: EdgeContext, service: StoredService, idOrName: string): void {
  const domain = requireDomain(context, service, idOrName)
  context.db.transaction(() => removeRow(context, service, domain))()
  context.work.poke('domain', domain.id)
}

/** Returns a domain of this service by id or name. @throws AppError not_found. */
export function requireDomain(context: Pick<EdgeContext, 'db'>, service: StoredService, idOrName: string): StoredDomain {
  const domain = findDomain(context.db, service.id, canonicalHostName(idOrName) ?? idOrName)
  if (domain !== undefined) return domain
  throw new AppError(
    'not_found',
    `The service has no such domain. GET /v1/services/${service.id}/custom-domains lists those it has; name one by id or host name.`,
  )
}

/** A holder who never proved a name gives way, so that nobody keeps it from its owner. @throws AppError conflict without telling whose it is. */
function freeName(context: EdgeContext, service: StoredService, { name, scope }: { name: string; scope: Actor['scope'] }): void {
  const holder = domainNamed(context.db, name)
  if (holder === undefined) return
  const owner = serviceById(context.db, holder.serviceId)
  if (owner?.workspaceId === service.workspaceId) {
    const shown = isWithin(scope, owner) ? owner.name : 'another service'
    throw new AppError('conflict', `${name} is a domain of ${owner.id === service.id ? 'this service' : shown} already.`)
  }
  if (holder.verifiedAt !== null || holder.watchedUntil > context.now() || owner === undefined) {
    throw new AppError('conflict', `${name} is taken on this server. If it is yours, ask the operator who uses it.`)
  }
  removeRow(context, owner, holder)
}

function removeRow(context: EdgeContext, service: StoredService, { id, name }: StoredDomain): void {
  deleteDomain(context.db, id)
  recordEvent(context.db, { owner: service, type: 'custom_domain_removed', details: { name }, now: context.now() })
}

function refuseHidden({ type }: StoredService): void {
  if (traitsOf(type).isRouted) return
  throw new AppError('conflict', `A ${type} is not reached from outside. Domains are for web services and static sites.`)
}
