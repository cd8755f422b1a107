import { formatAddress } from '../../platform/network/address.ts'
import type { AppContext } from '../context.ts'
import type { StoredService } from './store.ts'

export const hostOf = (context: Pick<AppContext, 'config'>, slug: string): string => `${slug}.${context.config.CP_BASE_DOMAIN}`

export const internalHostOf = ({ slug }: Pick<StoredService, 'slug'>): string => slug

/** The URL of a web service or static site: https once its host has a certificate. The port stands in it unless it is the scheme's own. */
export function urlOf({ config, hasCertificate }: Pick<AppContext, 'config' | 'hasCertificate'>, slug: string): string {
  const host = hostOf({ config }, slug)
  const https = config.CP_INGRESS_HTTPS
  if (https !== undefined && hasCertificate(host)) return `https://${https.port === 443 ? host : formatAddress({ host, port: https.port })}`
  const { port } = config.CP_INGRESS_HTTP
  return `http://${port === 80 ? host : formatAddress({ host, port })}`
}
