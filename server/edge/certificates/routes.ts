import type { Operations } from '../../../shared/operations/all.ts'
import { requireService } from '../../apps/services/require.ts'
import type { Actor, Handlers } from '../../http/handlers/call.ts'
import type { EdgeContext } from '../context.ts'
import { requireDomain } from '../domains/operations.ts'
import { dropOwnCertificate, useOwnCertificate } from './operations.ts'

type CertificateIds = Extract<keyof Operations, 'setDomainCertificate' | 'removeDomainCertificate'>

export const certificateRoutes: Handlers<CertificateIds, EdgeContext> = {
  setDomainCertificate: ({ actor, params, body }, context) => useOwnCertificate(context, owned(context, actor, params), body),
  removeDomainCertificate({ actor, params }, context) {
    dropOwnCertificate(context, owned(context, actor, params))
  },
}

function owned(context: EdgeContext, actor: Actor, { serviceId, domainId }: { serviceId: string; domainId: string }) {
  const service = requireService(context, actor, serviceId)
  return { service, domain: requireDomain(context, service, domainId) }
}
