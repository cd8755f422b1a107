/**
 * Looks at how a client begins before the server sees it: connections of this machine may be the platform's own, and who comes through a tunnel
 * may be no role of the platform's, nor stream what the database writes.
 */
import { errorResponse, sqlStates } from '../../../ingress/postgres/error-response.ts'
import { readFirstPacket } from '../../../ingress/postgres/first-packet.ts'
import { nameProblem } from '../roles.ts'

export interface GateStep {
  forward?: Uint8Array
  answer?: Uint8Array
  refusal?: string
}

export interface Gate {
  /** Takes what the client says. Once it has begun, all of it is for the server. */
  take(bytes: Uint8Array): GateStep
}

/** The tunnel is encrypted already where the API is. */
const NO_ENCRYPTION = new TextEncoder().encode('N')
/** One for TLS, one for GSSAPI. */
const MOST_REQUESTS = 2

export function createGate(): Gate {
  let held: Buffer | undefined = Buffer.alloc(0)
  let requests = 0
  return {
    take(bytes) {
      if (held === undefined) return { forward: bytes }
      held = Buffer.concat([held, bytes])
      const first = readFirstPacket(held)
      switch (first.kind) {
        case 'incomplete':
          return {}
        case 'ssl_request':
        case 'gss_request':
          // Nothing may follow such a request before it is answered (CVE-2021-23214).
          if (held.length > first.bytes || ++requests > MOST_REQUESTS) return { refusal: 'This is no way to begin' }
          held = Buffer.alloc(0)
          return { answer: NO_ENCRYPTION }
        case 'cancel':
          return release()
        case 'startup':
          return refusalOf(first.parameters) ?? release()
        default:
          return { refusal: 'This is not what a client of PostgreSQL says' }
      }
    },
  }

  function release(): GateStep {
    const forward = held ?? Buffer.alloc(0)
    held = undefined
    return { forward }
  }
}

function refusalOf(parameters: readonly [string, string][]): GateStep | undefined {
  for (const [name, value] of parameters) {
    if (name === 'user' && /^(?:cpd|pg)_/.test(value)) return refused(nameProblem(value) ?? 'This role is kept for the platform')
    if (name === 'replication') return refused('Nobody replicates through a tunnel')
  }
  return undefined
}

const refused = (refusal: string): GateStep => ({
  refusal,
  answer: errorResponse({ state: sqlStates.invalidAuthorization, message: refusal }),
})
