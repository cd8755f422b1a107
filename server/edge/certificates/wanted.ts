import { typesWith } from '../../../shared/service-type.ts'
import { hostOf } from '../../apps/services/addresses.ts'
import { sqlList } from '../../platform/db/sql-list.ts'
import type { EdgeContext } from '../context.ts'
import { verifiedDomains } from '../domains/store.ts'
import { buildDatabaseRoutes } from '../routing/databases.ts'
import type { AcmeSettings } from './acme/settings.ts'
import { isCertifiable } from './x509/names.ts'

export interface ServedHost {
  host: string
  serviceId: string | null
}

export interface Wanted {
  served: ServedHost[]
  /** Names to have a certificate for, each in one of its own; `*.…` for a wildcard. */
  names: ServedHost[]
}

export interface WantedInput {
  domains: ServedHost[]
  services: ServedHost[]
  databases: string[]
  baseDomain: string
  publicUrl: string
  acme: Pick<AcmeSettings, 'root' | 'dnsHook'> | undefined
}

/** Names have one certificate each, so that what goes can be revoked without touching others. Services share a wildcard where DNS records can be set. */
export function decideWanted({ domains, services, databases, baseDomain, publicUrl, acme }: WantedInput): Wanted {
  const { protocol, hostname } = new URL(publicUrl)
  const own = protocol === 'https:' ? [{ host: hostname, serviceId: null }] : []
  const labels = [...services, ...databases.map((host) => ({ host, serviceId: null }))]
  const served = distinct([...domains, ...own, ...labels])
  if (acme === undefined) return { served, names: [] }
  const authority = acme.root === undefined ? 'public' : 'private'
  const wildcard = `*.${baseDomain}`
  const underBase = acme.dnsHook === undefined ? labels : [{ host: wildcard, serviceId: null }]
  const certifiable = isCertifiable(baseDomain, authority) ? underBase : []
  const ownName = acme.dnsHook !== undefined && isLabelUnder(hostname, baseDomain) ? [] : own
  const names = distinct([...domains, ...ownName, ...certifiable])
  return { served, names: names.filter(({ host }) => isCertifiable(host.replace(/^\*\./, ''), authority)) }
}

const isLabelUnder = (host: string, base: string): boolean => host.endsWith(`.${base}`) && !host.slice(0, -base.length - 1).includes('.')

const distinct = (hosts: ServedHost[]): ServedHost[] => [...new Map(hosts.map((entry) => [entry.host, entry])).values()]

export function readWanted(context: EdgeContext, acme: AcmeSettings | undefined): Wanted {
  const services = context.db
    .query<{ id: string; slug: string }, []>(
      `SELECT id, slug FROM services WHERE deleted_at IS NULL AND type IN (${sqlList(typesWith('isRouted'))}) ORDER BY id`,
    )
    .all()
  return decideWanted({
    domains: verifiedDomains(context.db).map(({ name, serviceId }) => ({ host: name, serviceId })),
    services: services.map(({ id, slug }) => ({ host: hostOf(context, slug), serviceId: id })),
    databases: Object.values(buildDatabaseRoutes(context)).flatMap(({ host, pool, allow }) =>
      allow.length === 0 ? [] : [host, ...(pool === undefined ? [] : [pool.host])],
    ),
    baseDomain: context.config.CP_BASE_DOMAIN,
    publicUrl: context.publicUrl,
    acme,
  })
}
