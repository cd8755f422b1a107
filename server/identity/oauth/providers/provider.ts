import type { ProviderId } from '../../../../shared/oauth.ts'

export interface Profile {
  issuer: string
  subject: string
  email: string | undefined
  isEmailVerified: boolean
  name: string | undefined
}

export interface Secrets {
  state: string
  nonce: string
  verifier: string
}

export interface ProviderAnswer {
  code: string
  iss: string | undefined
  /** The name that Apple's form holds beside the signed token: not verified by anybody. */
  name: string | undefined
}

export interface Provider {
  readonly id: ProviderId
  readonly name: string
  /** @throws OutgoingProblem, or the library's error, while the provider cannot be asked what it is. */
  authorizationUrl(secrets: Secrets): Promise<URL>
  /** @throws OutgoingProblem while the provider does not answer, the library's error for an answer that does not verify. */
  profileOf(answer: ProviderAnswer, secrets: Secrets): Promise<Profile>
}
