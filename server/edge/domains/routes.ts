import type { CustomDomainQuery } from '../../../shared/custom-domain.ts'
import { canonicalHostName } from '../../../shared/domain.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import { requireService } from '../../apps/services/require.ts'
import { idPageOf, pageOf } from '../../http/answers/page.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import type { EdgeContext } from '../context.ts'
import { addDomain, removeDomain, requestVerification, requireDomain } from './operations.ts'
import { presentDomain } from './present.ts'
import { listDomains } from './store.ts'

type DomainIds = Extract<
  keyof Operations,
  'listCustomDomains' | 'createCustomDomain' | 'getCustomDomain' | 'verifyCustomDomain' | 'deleteCustomDomain'
>

export const domainRoutes: Handlers<DomainIds, EdgeContext> = {
  listCustomDomains({ actor, params, query }, context) {
    const service = requireService(context, actor, params.serviceId)
    const wanted = { ...idPageOf(query), ...namesIn(query) }
    const domains = listDomains(context.db, service.id, { ...query, ...wanted })
    const page = domains.map((domain) => presentDomain(context, service, domain))
    return pageOf('customDomain', page, ({ id }) => [id])
  },
  createCustomDomain({ actor, params, body }, context) {
    const service = requireService(context, actor, params.serviceId)
    return [presentDomain(context, service, addDomain(context, service, { text: body.name, scope: actor.scope }))]
  },
  getCustomDomain({ actor, params }, context) {
    const service = requireService(context, actor, params.serviceId)
    return presentDomain(context, service, requireDomain(context, service, params.domainId))
  },
  verifyCustomDomain({ actor, params }, context) {
    requestVerification(context, requireService(context, actor, params.serviceId), params.domainId)
  },
  deleteCustomDomain({ actor, params }, context) {
    removeDomain(context, requireService(context, actor, params.serviceId), params.domainId)
  },
}

const namesIn = ({ name }: CustomDomainQuery): { name?: string[] } =>
  name === undefined ? {} : { name: name.map((text) => canonicalHostName(text) ?? text) }
