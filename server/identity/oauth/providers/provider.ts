import type { ProviderId } from '../../../../shared/oauth.ts'

/** What a provider says of somebody, after everything it said was verified. */
export interface Profile {
  issuer: string
  /** Never given to another account of this issuer. */
  subject: string
  email: string | undefined
  /** Whether the provider says that mail to the address reaches this account. */
  isEmailVerified: boolean
  name: string | undefined
}

/** What ties one answer to the browser and the request that asked for it. */
export interface Secrets {
  state: string
  nonce: string
  /** Of PKCE (RFC 7636). */
  verifier: string
}

/** What the browser brings back. */
export interface ProviderAnswer {
  code: string
  iss: string | undefined
  /** The name that Apple's form holds beside the signed token: not verified by anybody. */
  name: string | undefined
}

/** One way to sign in. A further kind of provider is one more of these. */
export interface Provider {
  readonly id: ProviderId
  readonly name: string
  /** Where the browser is sent to. @throws OutgoingProblem, or the library's error, while the provider cannot be asked what it is. */
  authorizationUrl(secrets: Secrets): Promise<URL>
  /**
   * Exchanges the code and gives whose it is.
   *
   * @throws OutgoingProblem while the provider does not answer, the library's error for an answer that does not verify.
   */
  profileOf(answer: ProviderAnswer, secrets: Secrets): Promise<Profile>
}
