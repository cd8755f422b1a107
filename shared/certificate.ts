import { type Static, Type } from '@sinclair/typebox'
import { OneOf, StrictObject, Time } from './schema.ts'

/** Largest certificate chain or key that is taken, in characters: a chain of five RSA certificates has some 10,000. */
const maxPemChars = 65_536

export const certificateStatuses = ['none', 'pending', 'issued', 'failed', 'uploaded'] as const

export const CertificateState = Type.Object(
  {
    status: OneOf(
      certificateStatuses,
      'none: none is wanted · pending: one is being obtained · issued: from the authority · failed: tried again by itself · uploaded: your own',
    ),
    issuer: Type.Optional(Type.String({ description: 'Who issued the one in use' })),
    expiresAt: Type.Optional(Time),
    error: Type.Optional(Type.String({ description: 'Why the latest try to obtain one failed, and what to do' })),
  },
  { $id: 'CertificateState' },
)
export type CertificateState = Static<typeof CertificateState>

export const CertificateUpload = StrictObject({
  certificate: Type.String({
    minLength: 1,
    maxLength: maxPemChars,
    description: "The chain as PEM: the domain's own certificate first, then those that issued it",
    examples: ['-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n'],
  }),
  privateKey: Type.String({
    minLength: 1,
    maxLength: maxPemChars,
    description: 'Its key as PEM, not encrypted. It is kept encrypted and never given out.',
    examples: ['-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----\n'],
  }),
})
export type CertificateUpload = Static<typeof CertificateUpload>
