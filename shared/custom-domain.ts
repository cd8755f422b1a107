import { type Static, Type } from '@sinclair/typebox'
import { CertificateState } from './certificate.ts'
import { Id } from './id.ts'
import { Many, OneOf, PageQuery, StrictObject, Time, TimeInput } from './schema.ts'

export const domainTypes = ['apex', 'subdomain'] as const
export type DomainType = (typeof domainTypes)[number]

const verificationStatuses = ['verified', 'unverified'] as const

export const checkOutcomes = ['verified', 'not_found', 'wrong_target', 'no_answer'] as const

/** What an observation of a domain's DNS found. */
export const DomainCheck = Type.Object({
  outcome: OneOf(
    checkOutcomes,
    'verified: it proves that the domain is meant for this service · not_found: DNS has no such name or nothing for it · wrong_target: it leads elsewhere · no_answer: the name servers failed or kept silent',
  ),
  message: Type.String({ description: 'What was found, what is expected, and what to do' }),
  found: Type.Array(Type.String(), { description: 'The records that were found, such as "CNAME other.example.net"' }),
})
export type DomainCheck = Static<typeof DomainCheck>

export const dnsRecordTypes = ['CNAME', 'A', 'AAAA', 'TXT'] as const

export const DnsRecord = Type.Object({ type: OneOf(dnsRecordTypes), name: Type.String(), value: Type.String() })
export type DnsRecord = Static<typeof DnsRecord>

export const CustomDomain = Type.Object(
  {
    id: Id('customDomain'),
    name: Type.String({ description: 'Lower case; letters beyond ASCII as punycode', examples: ['www.example.com'] }),
    domainType: OneOf(domainTypes),
    publicSuffix: Type.String({ examples: ['com', 'co.uk'] }),
    redirectForName: Type.String({ description: 'Always empty: each domain is added on its own' }),
    verificationStatus: OneOf(verificationStatuses, 'Once verified it stays so until it is removed'),
    createdAt: Time,
    server: Type.Object({ id: Id('service'), name: Type.String() }),
    dnsRecords: Type.Array(DnsRecord, {
      description: 'Either those that lead the name here, or the TXT record, proves the domain; to be reached it needs the former',
    }),
    certificate: CertificateState,
    isCheckPending: Type.Boolean({ description: 'Whether a look at its DNS was asked for that is not over yet' }),
    lastCheck: Type.Optional(Type.Composite([Type.Object({ checkedAt: Time }), DomainCheck])),
  },
  { $id: 'CustomDomain' },
)
export type CustomDomain = Static<typeof CustomDomain>

export const CustomDomainQuery = Type.Object({
  ...PageQuery,
  name: Many(Type.String({ maxLength: 254, description: 'Host name, in any spelling' })),
  domainType: Type.Optional(OneOf(domainTypes)),
  verificationStatus: Type.Optional(OneOf(verificationStatuses)),
  createdBefore: Type.Optional(TimeInput),
  createdAfter: Type.Optional(TimeInput),
})
export type CustomDomainQuery = Static<typeof CustomDomainQuery>

/** Longest host name in DNS (RFC 1035 section 2.3.4), as it is written without the dot at its end. */
export const maxHostNameChars = 253

export const CustomDomainCreate = StrictObject(
  { name: Type.String({ minLength: 1, maxLength: maxHostNameChars + 1, description: 'The host name', examples: ['www.example.com'] }) },
  { examples: [{ name: 'www.example.com' }] },
)
export type CustomDomainCreate = Static<typeof CustomDomainCreate>
