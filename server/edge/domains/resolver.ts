import { Resolver } from 'node:dns/promises'

export type RecordType = 'A' | 'AAAA' | 'CNAME' | 'TXT'

export type DnsAnswer = { kind: 'records'; values: string[] } | { kind: 'none' } | { kind: 'failed'; reason: string }

/** Answers are data to compare and never addresses to connect to. */
export interface DnsResolver {
  ask(name: string, type: RecordType): Promise<DnsAnswer>
  cancel(): void
}

export interface ResolverOptions {
  /** `address:port` of the one name server to ask; undefined for those of the system. */
  server: string | undefined
  tryTimeoutMs?: number
}

const TRY_TIMEOUT_MS = 2000
const TRIES = 2
/** Errors that are an answer: no such name, or nothing of this type. Bun does not always tell one from the other. */
const absences = new Set(['ENOTFOUND', 'ENODATA'])

const reasons: Record<string, string> = {
  ETIMEOUT: 'the name server did not answer in time',
  ECANCELLED: 'the name server did not answer in time',
  ECONNREFUSED: 'the name server cannot be reached',
  ESERVFAIL: 'the name server failed (SERVFAIL): the zone of the domain may be broken, or its name servers away',
  EREFUSED: 'the name server refused to answer',
}

export function createResolver({ server, tryTimeoutMs = TRY_TIMEOUT_MS }: ResolverOptions): DnsResolver {
  const resolver = new Resolver({ timeout: tryTimeoutMs, tries: TRIES })
  if (server !== undefined) resolver.setServers([server])
  const questions: Record<RecordType, (name: string) => Promise<string[]>> = {
    A: (name) => resolver.resolve4(name),
    AAAA: (name) => resolver.resolve6(name),
    CNAME: (name) => resolver.resolveCname(name),
    TXT: async (name) => (await resolver.resolveTxt(name)).map((pieces) => pieces.join('')),
  }
  let isCancelled = false
  return {
    async ask(name, type) {
      if (isCancelled) return failed('ECANCELLED')
      try {
        const values = await questions[type](name)
        return values.length === 0 ? { kind: 'none' } : { kind: 'records', values }
      } catch (error) {
        return failureOf(error)
      }
    },
    cancel() {
      isCancelled = true
      resolver.cancel()
    },
  }
}

function failureOf(error: unknown): DnsAnswer {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (absences.has(code)) return { kind: 'none' }
  return failed(code)
}

const failed = (code: string): DnsAnswer => ({
  kind: 'failed',
  reason: reasons[code] ?? `the name server gave no usable answer (${code || 'unknown'})`,
})
