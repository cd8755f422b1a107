import { accessSync, constants, readFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { AppError } from '../../../../shared/error.ts'
import type { IngressSettings } from '../../../ingress/settings.ts'
import type { EdgeSettings } from '../../settings.ts'

export type ChallengeKind = 'http-01' | 'tls-alpn-01' | 'dns-01'

export interface AcmeSettings {
  directory: string
  /** PEM of the root of the directory's own TLS; undefined trusts what the machine trusts. */
  root: string | undefined
  email: string | undefined
  challenge: ChallengeKind
  dnsHook: string | undefined
  /** External account binding (RFC 8555 section 7.3.4). */
  externalAccount: { kid: string; hmacKey: string } | undefined
}

type TlsConfig = Pick<IngressSettings, 'CP_INGRESS_HTTPS'> & Partial<Pick<IngressSettings, 'CP_INGRESS_POSTGRES' | 'CP_INGRESS_KEY_VALUE'>>

type Given = Pick<
  EdgeSettings,
  'CP_ACME_DIRECTORY' | 'CP_ACME_ROOT' | 'CP_ACME_EMAIL' | 'CP_ACME_CHALLENGE' | 'CP_ACME_DNS_HOOK' | 'CP_ACME_EAB_KID' | 'CP_ACME_EAB_HMAC'
> &
  TlsConfig

export const isTlsServed = (config: TlsConfig): boolean =>
  [config.CP_INGRESS_HTTPS, config.CP_INGRESS_POSTGRES, config.CP_INGRESS_KEY_VALUE].some((address) => address !== undefined)

/** Returns undefined where none are obtained: no https, or CP_ACME_DIRECTORY is `off`. @throws AppError `bad_request` naming the setting at fault. */
export function acmeSettingsOf(config: Given): AcmeSettings | undefined {
  refuseHalves(config)
  if (!isTlsServed(config) || config.CP_ACME_DIRECTORY === undefined) return undefined
  if (config.CP_ACME_DNS_HOOK !== undefined) refuseUnusableHook(config.CP_ACME_DNS_HOOK)
  const { CP_ACME_EAB_KID: kid, CP_ACME_EAB_HMAC: hmacKey } = config
  return {
    directory: config.CP_ACME_DIRECTORY,
    root: config.CP_ACME_ROOT === undefined ? undefined : readRoot(config.CP_ACME_ROOT),
    email: config.CP_ACME_EMAIL,
    challenge: config.CP_ACME_CHALLENGE,
    dnsHook: config.CP_ACME_DNS_HOOK,
    externalAccount: kid === undefined || hmacKey === undefined ? undefined : { kid, hmacKey },
  }
}

const needHttps = ['CP_ACME_ROOT', 'CP_ACME_EMAIL', 'CP_ACME_DNS_HOOK', 'CP_ACME_EAB_KID', 'CP_ACME_EAB_HMAC'] as const

function refuseHalves(config: Given): void {
  const lone = needHttps.find((name) => config[name] !== undefined)
  if (lone !== undefined && !isTlsServed(config)) {
    throw halfSet(
      `${lone} is set, but CP_INGRESS_HTTPS is not: certificates need an ingress that serves https. Set it, say to 0.0.0.0:443.`,
    )
  }
  if ((config.CP_ACME_EAB_KID === undefined) !== (config.CP_ACME_EAB_HMAC === undefined)) {
    throw halfSet('CP_ACME_EAB_KID and CP_ACME_EAB_HMAC belong together: set both, as the authority gave them, or none.')
  }
  if (config.CP_ACME_CHALLENGE === 'dns-01' && config.CP_ACME_DNS_HOOK === undefined) {
    throw halfSet('CP_ACME_CHALLENGE is dns-01, which needs CP_ACME_DNS_HOOK: the path of a program that sets DNS records.')
  }
}

const halfSet = (message: string) => new AppError('bad_request', message)

function refuseUnusableHook(path: string): void {
  if (!isAbsolute(path)) throw new AppError('bad_request', `CP_ACME_DNS_HOOK: "${path}" is not an absolute path`)
  try {
    accessSync(path, constants.X_OK)
  } catch (cause) {
    throw new AppError('bad_request', `CP_ACME_DNS_HOOK: ${path} is missing or cannot be executed`, { cause })
  }
}

function readRoot(path: string): string {
  const text = readText(path)
  if (!text.includes('-----BEGIN CERTIFICATE-----')) {
    throw new AppError('bad_request', `CP_ACME_ROOT: ${path} holds no certificate in PEM`)
  }
  return text
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new AppError('bad_request', `CP_ACME_ROOT: ${path} cannot be read`, { cause })
  }
}
