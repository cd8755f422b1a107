import { minPasswordChars } from '../../shared/auth.ts'
import { allQuotas, MAX_QUOTA, type QuotaName } from '../../shared/quota.ts'
import { visibleChar } from '../../shared/schema.ts'
import { isSafeUrl } from '../platform/outgoing/rules.ts'
import { integer, list, oneOf, optionalText } from '../platform/settings/parsers.ts'

const MIN_STATIC_TOKEN_CHARS = 24

const amount = integer(0, MAX_QUOTA)

/** Kept as it is written: an issuer is compared letter by letter. Secrets are sent there, so it is https or this machine itself. */
export function parseProviderUrl(value: string): string | undefined {
  if (value === '') return undefined
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || !isSafeUrl(url) || url.search !== '' || url.hash !== '' || url.pathname.includes('/.well-known/')) {
    throw new Error(`"${value}" is not an https URL without user, query, fragment and /.well-known/ (http is taken for this machine only)`)
  }
  return value
}

export function parseProviderName(value: string): string | undefined {
  if (!new RegExp(`^${visibleChar}{0,40}$`).test(value)) throw new Error('must be at most 40 visible characters')
  return optionalText(value.trim())
}

export function parseStaticToken(value: string): string | undefined {
  if (value === '') return undefined
  if (value.length < MIN_STATIC_TOKEN_CHARS || !/^[!-~]+$/.test(value)) {
    throw new Error(`must be at least ${MIN_STATIC_TOKEN_CHARS} visible ASCII characters without spaces`)
  }
  return value
}

export function parseAdminPassword(value: string): string | undefined {
  if (value === '') return undefined
  if ([...value].length < minPasswordChars) throw new Error(`must have at least ${minPasswordChars} characters`)
  return value
}

export function parseQuotas(value: string): Partial<Record<QuotaName, number>> {
  const known = oneOf(allQuotas)
  const pairs = list(value).map((pair) => {
    const [name = '', limit = ''] = pair.split('=')
    return [known(name), amount(limit)] as const
  })
  return Object.fromEntries(pairs)
}
