import { messageOf } from '../../../shared/error.ts'
import { type CertificateTable, EMPTY_CERTIFICATE_TABLE, keyPurpose, type ServedCertificate } from '../tables/certificate-table.ts'
import { type KeyPair, type SecureContext, secureContextOf } from './bun-tls.ts'
import { type CertificateNames, certificateNames, certificatesFor, plainName } from './certificate-names.ts'

export interface CertificatesOptions {
  openKey(sealed: string, purpose: string): string
  log(line: string): void
}

type SealedPair = Pick<ServedCertificate, 'id' | 'certificate' | 'sealedKey'>

interface Made {
  of: SealedPair
  keyPair: KeyPair | undefined
  context: SecureContext | undefined
}

/**
 * Chooses the certificate for a name. A table is applied without looking into its certificates, as there may be ten thousand: keys are
 * opened and contexts made when a client first asks for one, and kept while its certificate stays as it is.
 */
export class Certificates {
  readonly #options: CertificatesOptions
  #table: CertificateTable = EMPTY_CERTIFICATE_TABLE
  #names: CertificateNames = new Map()
  #fallback: ServedCertificate | undefined
  readonly #made = new Map<string, Made>()

  constructor(options: CertificatesOptions) {
    this.#options = options
  }

  get version(): number {
    return this.#table.version
  }

  apply(table: CertificateTable): void {
    this.#table = table
    this.#names = certificateNames(table.certificates)
    this.#fallback = table.certificates.find(({ id }) => id === table.fallbackId)
    const current = new Map<string, SealedPair>([...table.certificates, ...tlsChallenges(table)].map((pair) => [pair.id, pair]))
    for (const [id, { of }] of this.#made) if (!isSame(of, current.get(id))) this.#made.delete(id)
  }

  contextFor(name: string | undefined): SecureContext | undefined {
    const own = name === undefined ? undefined : this.#usableFor(plainName(name))
    return (own ?? this.#madeOf(this.#fallback))?.context
  }

  get fallbackPair(): KeyPair | undefined {
    return this.#madeOf(this.#fallback)?.keyPair
  }

  isTrustedAt(host: string): boolean {
    return certificatesFor(this.#names, host).find((certificate) => this.#madeOf(certificate) !== undefined)?.isTrusted ?? false
  }

  get hasTlsChallenges(): boolean {
    return this.#table.challenges.some(({ kind }) => kind === 'tls-alpn')
  }

  tlsChallengeContext(name: string): SecureContext | undefined {
    return this.#madeOf(tlsChallenges(this.#table).find(({ id }) => id === challengeId(plainName(name))))?.context
  }

  httpChallengeAnswer(host: string, token: string): string | undefined {
    for (const challenge of this.#table.challenges) {
      if (challenge.kind === 'http' && challenge.token === token && plainName(challenge.host) === host) return challenge.keyAuthorization
    }
    return undefined
  }

  #usableFor(name: string): Made | undefined {
    for (const certificate of certificatesFor(this.#names, name)) {
      const made = this.#madeOf(certificate)
      if (made !== undefined) return made
    }
    return undefined
  }

  #madeOf(pair: SealedPair | undefined): Made | undefined {
    if (pair === undefined) return undefined
    const made = this.#made.get(pair.id) ?? this.#make(pair)
    this.#made.set(pair.id, made)
    return made.context === undefined ? undefined : made
  }

  #make(of: SealedPair): Made {
    try {
      const keyPair = { certificate: of.certificate, key: this.#options.openKey(of.sealedKey, keyPurpose(of.id)) }
      return { of, keyPair, context: secureContextOf(keyPair) }
    } catch (error) {
      const reason = messageOf(error)
      this.#options.log(`The certificate ${of.id} cannot be served and is left out: ${reason}`)
      return { of, keyPair: undefined, context: undefined }
    }
  }
}

const challengeId = (host: string): string => `challenge:${host}`

function tlsChallenges({ challenges }: CertificateTable): SealedPair[] {
  return challenges.flatMap((challenge) => {
    if (challenge.kind !== 'tls-alpn') return []
    return [{ id: challengeId(challenge.host), certificate: challenge.certificate, sealedKey: challenge.sealedKey }]
  })
}

const isSame = (one: SealedPair, other: SealedPair | undefined): boolean =>
  one.certificate === other?.certificate && one.sealedKey === other.sealedKey
