import { hostOf } from '../../apps/services/addresses.ts'
import type { EdgeContext } from '../context.ts'
import { verifiedDomains } from '../domains/store.ts'
import type { AcmeSettings } from './acme/settings.ts'
import { isCertifiable } from './x509/names.ts'

export interface ServedHost {
  host: string
  /** Whose host it is, if it is a service's. */
  serviceId: string | null
}

/** What is to be served over https, and the certificates to obtain for it. */
export interface Wanted {
  /** Every host that people may reach: no certificate of these is given up. */
  served: ServedHost[]
  /** Names to have a certificate for, each in a certificate of its own; `*.` in front for a wildcard. */
  names: ServedHost[]
}

export interface WantedInput {
  /** Verified custom domains. */
  domains: ServedHost[]
  /** Hosts of services under the base domain. */
  services: ServedHost[]
  baseDomain: string
  publicUrl: string
  /** Undefined when nothing is to be obtained. */
  acme: Pick<AcmeSettings, 'root' | 'dnsHook'> | undefined
}

/**
 * One certificate for each verified domain, one for the API's own host, and for the services under the base domain one wildcard
 * where DNS records can be set, else one each. One host in a certificate: what goes can be revoked without touching others.
 */
export function decideWanted({ domains, services, baseDomain, publicUrl, acme }: WantedInput): Wanted {
  const { protocol, hostname } = new URL(publicUrl)
  const own = protocol === 'https:' ? [{ host: hostname, serviceId: null }] : []
  const served = distinct([...domains, ...own, ...services])
  if (acme === undefined) return { served, names: [] }
  const authority = acme.root === undefined ? 'public' : 'private'
  const wildcard = `*.${baseDomain}`
  const underBase = acme.dnsHook === undefined ? services : [{ host: wildcard, serviceId: null }]
  const certifiable = isCertifiable(baseDomain, authority) ? underBase : []
  const ownName = acme.dnsHook !== undefined && isLabelUnder(hostname, baseDomain) ? [] : own
  const names = distinct([...domains, ...ownName, ...certifiable])
  return { served, names: names.filter(({ host }) => isCertifiable(host.replace(/^\*\./, ''), authority)) }
}

const isLabelUnder = (host: string, base: string): boolean => host.endsWith(`.${base}`) && !host.slice(0, -base.length - 1).includes('.')

const distinct = (hosts: ServedHost[]): ServedHost[] => [...new Map(hosts.map((entry) => [entry.host, entry])).values()]

/** What the database and the settings ask for now. */
export function readWanted(context: EdgeContext, acme: AcmeSettings | undefined): Wanted {
  const services = context.db
    .query<{ id: string; slug: string }, []>(
      "SELECT id, slug FROM services WHERE deleted_at IS NULL AND type IN ('web_service', 'static_site') ORDER BY id",
    )
    .all()
  return decideWanted({
    domains: verifiedDomains(context.db).map(({ name, serviceId }) => ({ host: name, serviceId })),
    services: services.map(({ id, slug }) => ({ host: hostOf(context, slug), serviceId: id })),
    baseDomain: context.config.CP_BASE_DOMAIN,
    publicUrl: context.publicUrl,
    acme,
  })
}
