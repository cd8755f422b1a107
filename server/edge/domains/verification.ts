import type { DnsRecord, DomainCheck } from '../../../shared/custom-domain.ts'
import { isAtOrBelow } from '../../../shared/domain.ts'
import { parseIp } from '../../../shared/ip-address.ts'
import type { DnsObservation } from './observation.ts'

export interface Expected {
  name: string
  host: string
  baseDomain: string
  addresses: readonly string[]
  challenge: string
  /** Another workspace has proven a name of the same registered domain, so an address says nothing about whom it is for. */
  isShared: boolean
  records: readonly DnsRecord[]
}

/** Proof is the challenge, a CNAME to the service's own name, or only addresses of this machine. Another service's name is meant for that service. */
export function verifyDomain(observed: DnsObservation, expected: Expected): DomainCheck {
  const found = describe(observed, expected)
  const result = (outcome: DomainCheck['outcome'], message: string): DomainCheck => ({ outcome, message, found })
  if (observed.texts.includes(expected.challenge)) return result('verified', `The TXT record proves ${expected.name}.`)
  const own = observed.chain.find((name) => isAtOrBelow(name, expected.baseDomain))
  if (own === expected.host) return result('verified', `${expected.name} leads to ${expected.host}.`)
  if (own !== undefined) {
    return result('wrong_target', `${expected.name} leads to ${own}, which is another service. ${wanted(expected)}`)
  }
  if (observed.isChainTooLong) {
    return result('wrong_target', `${expected.name} leads through too many CNAME records, or in a circle. ${wanted(expected)}`)
  }
  if (observed.addresses.length > 0) return result(...verifyAddresses(observed, expected))
  if (observed.failures.length > 0) {
    return result('no_answer', `DNS could not be asked: ${observed.failures.join('; ')}. It is tried again by itself.`)
  }
  const target = observed.chain.at(-1)
  const missing = target === undefined ? expected.name : `${target}, which ${expected.name} leads to`
  return result('not_found', `DNS has no address for ${missing}: the record is missing, or not known everywhere yet. ${wanted(expected)}`)
}

function verifyAddresses({ addresses, failures }: DnsObservation, expected: Expected): [DomainCheck['outcome'], string] {
  const ours = new Set(expected.addresses.map(parseIp))
  const strange = addresses.filter((address) => !ours.has(parseIp(address)))
  if (strange.length > 0) {
    if (ours.size === 0) {
      const message = `${expected.name} leads to ${strange.join(', ')}, and it is not known which addresses this server has: its operator sets CP_PUBLIC_ADDRESSES. Until then the TXT record proves the domain.`
      return ['wrong_target', message]
    }
    const where = strange.length === addresses.length ? 'leads' : 'also leads'
    return ['wrong_target', `${expected.name} ${where} to ${strange.join(', ')}, which is not this server. ${wanted(expected)}`]
  }
  if (expected.isShared) {
    const message = `${expected.name} leads to this server, but somebody else's service here uses a name of the same domain. Set the TXT record to prove that this one is yours.`
    return ['wrong_target', message]
  }
  if (failures.length > 0)
    return ['no_answer', `DNS could not be asked for everything: ${failures.join('; ')}. It is tried again by itself.`]
  return ['verified', `${expected.name} leads to this server.`]
}

function wanted({ records }: Expected): string {
  const texts = records.map(({ type, name, value }) => `${type} ${name} → ${value}`)
  return `Set one of these: ${texts.join(', or ')}.`
}

function describe({ chain, addresses, texts }: DnsObservation, { name, challenge }: Expected): string[] {
  const links = chain.map((target, index) => `CNAME ${chain[index - 1] ?? name} → ${target}`)
  const end = chain.at(-1) ?? name
  const places = addresses.map((address) => `${address.includes(':') ? 'AAAA' : 'A'} ${end} → ${address}`)
  const proofs = texts.map((text) => `TXT _cpd-challenge.${name} → ${text === challenge ? text : shortened(text)}`)
  return [...links, ...places, ...proofs]
}

const MAX_TEXT_CHARS = 100

/** Strangers write these texts: what cannot be seen is made visible, what is long is cut. */
const shortened = (text: string): string => text.slice(0, MAX_TEXT_CHARS).replace(/[^\x20-\x7e]/g, '\ufffd')
