import { parse } from 'tldts'
import { type DomainType, maxHostNameChars } from './custom-domain.ts'
import { type AppError, invalidValue } from './error.ts'
import { parseIp } from './ip-address.ts'
import { isMixedScript, looksLike } from './look-alike.ts'
import { decodeLabel } from './punycode.ts'

const MAX_LABEL_CHARS = 63
/** Letters, digits and inner hyphens (RFC 1123 section 2.1); letters beyond ASCII are punycode by now. */
const label = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

export interface DomainName {
  name: string
  domainType: DomainType
  /** What nobody registers, such as `com`, `co.uk` or `github.io`. */
  publicSuffix: string
  /** The name that somebody registered: the public suffix and the label before it. */
  registrable: string
}

export interface OwnNames {
  baseDomain: string
  publicHost: string
}

/** The form a host name is looked up in, or undefined when it is none. An address is none. */
export function canonicalHostName(text: string): string | undefined {
  if (/[\s/\\:?#@%[\]<>|^*]/.test(text) || !URL.canParse(`http://${text}`)) return undefined
  const name = new URL(`http://${text}`).hostname.replace(/\.$/, '')
  const isName = name.length <= maxHostNameChars && name.split('.').every((part) => part.length <= MAX_LABEL_CHARS && label.test(part))
  return isName && parseIp(name) === undefined ? name : undefined
}

/** Reads a host name that is to lead to a service. @throws AppError validation_failed saying what is wrong with it. */
export function parseDomainName(text: string): DomainName {
  refuseOtherThings(text)
  const name = canonicalHostName(text)
  if (name === undefined) {
    throw refused(
      `${quoted(text)} is not a host name. It takes letters, digits and hyphens in labels of at most 63 characters, parted by dots, 253 in all: www.example.com.`,
    )
  }
  refuseMixedScripts(name)
  const { domain, publicSuffix, isIp } = parse(name, { allowPrivateDomains: true })
  if (isIp || publicSuffix === null) throw refused(addressText(text))
  if (!name.includes('.')) throw refused(`${name} is a single label. A host name has at least two, parted by a dot: www.example.com.`)
  if (domain === null) {
    throw refused(`${name} is a public suffix, below which others register their names. Add a name below it that is yours: www.${name}.`)
  }
  return { name, publicSuffix, registrable: domain, domainType: name === domain ? 'apex' : 'subdomain' }
}

/** Refuses names that are ours, or never stand in public DNS. @throws AppError validation_failed saying which. */
export function refuseReservedNames({ name }: DomainName, { baseDomain, publicHost }: OwnNames): void {
  if (isAtOrBelow(name, baseDomain)) {
    throw refused(`${name} belongs to this platform: services have their own names below ${baseDomain}. Add a domain of yours.`)
  }
  if (name === publicHost) throw refused(`${name} is where this platform's own API answers. Add another name.`)
  const special = specialSuffixes.find((suffix) => isAtOrBelow(name, suffix))
  // Who runs the whole platform below such a name has a network in which it is known.
  if (special !== undefined && !isAtOrBelow(baseDomain, special)) {
    throw refused(`Names below .${special} are reserved and never stand in public DNS. Add a name that was registered.`)
  }
  const own = [baseDomain, publicHost].flatMap((host) => [host, parse(host, { allowPrivateDomains: true }).domain ?? host])
  const alike = own.find((host) => looksLike(name, host))
  if (alike !== undefined) {
    throw refused(`${name} looks like ${alike}, a name of this platform, and would be taken for it. Add a name that does not.`)
  }
}

/** Names for special use (RFC 6761 and the registry it began), which no registrar gives to anybody. */
const specialSuffixes = ['localhost', 'local', 'test', 'invalid', 'example', 'onion', 'alt', 'internal', 'home.arpa', 'arpa'] as const

/** Whether a host name is `upper` or lies below it. Both in the form they are looked up in. */
export const isAtOrBelow = (name: string, upper: string): boolean => name === upper || name.endsWith(`.${upper}`)

/** Whether nobody can own a name, as it is reserved or stands for a machine or network of its own. */
export const isSpecialUse = (name: string): boolean => specialSuffixes.some((suffix) => isAtOrBelow(name, suffix))

function refuseOtherThings(text: string): void {
  if (text.startsWith('*')) {
    throw refused(`${quoted(text)} is a wildcard. A domain stands for one host: add each name on its own.`)
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) throw refused(`${quoted(text)} is a URL. Give the host name alone: www.example.com.`)
  const host = text.replace(/^\[|\]$/g, '')
  if (parseIp(host) !== undefined || /^[\d.]+$/.test(text)) throw refused(addressText(text))
  if (/:\d*$/.test(text)) throw refused(`${quoted(text)} names a port. Give the host name alone: a domain stands for the usual ports.`)
}

const addressText = (text: string): string => `${quoted(text)} is an address. Give a host name: www.example.com.`

function refuseMixedScripts(name: string): void {
  for (const part of name.split('.')) {
    const letters = decodeLabel(part)
    if (letters === undefined) throw refused(`The label ${part} is not valid punycode. Give the name in its own letters.`)
    if (isMixedScript(letters)) {
      throw refused(`The label ${part} mixes letters of several scripts, which people take for another name. Use the letters of one.`)
    }
  }
}

const MAX_QUOTED_CHARS = 80

/** Somebody else's text in our message: what cannot be seen is made visible, what is long is cut. */
const quoted = (text: string): string => `"${text.slice(0, MAX_QUOTED_CHARS).replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '\ufffd')}"`

const refused = (message: string): AppError => invalidValue('/name', message)
