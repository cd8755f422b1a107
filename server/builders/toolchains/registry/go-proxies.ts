/** Where modules of Go are had from, by the rules of `GOPROXY` (https://go.dev/ref/mod#goproxy-protocol). */
import { readFile } from 'node:fs/promises'
import { basicAuthorization } from './basic-authorization.ts'
import { Absent, Unfetched } from './download.ts'
import type { BuildEnv, Way } from './way.ts'

const DEFAULT_GOPROXY = 'https://proxy.golang.org,direct'

/** What https://golang.org/toolchain?go-get=1 names for fetches that are to go by no proxy. */
const DIRECT = 'https://go.dev/dl/mod'

interface Source {
  base: string
  /** Written with a `|` behind it: whatever is wrong there, the next one is asked. */
  isPassedOver: boolean
}

export function goSources(env: BuildEnv): Source[] {
  const sources: Source[] = []
  for (const [, place = '', end] of (env.GOPROXY || DEFAULT_GOPROXY).matchAll(/([^,|]+)([,|]?)/g)) {
    const base = place.trim().replace(/\/+$/, '')
    if (base === 'off') break
    if (base !== '') sources.push({ base: base === 'direct' ? DIRECT : base, isPassedOver: end === '|' })
    if (base === 'direct') break
  }
  return sources
}

/** What the first source has that has it. @throws Unfetched in the words of the first that failed. */
export async function fromSources<T>(env: BuildEnv, ask: (base: string) => Promise<T>): Promise<T> {
  let first: Unfetched | undefined
  for (const { base, isPassedOver } of goSources(env)) {
    try {
      if (!/^https?:\/\//.test(base) || !URL.canParse(base)) throw new Unfetched('GOPROXY names something that is no https address')
      return await ask(base)
    } catch (error) {
      if (!(error instanceof Unfetched)) throw error
      first ??= error
      if (!(error instanceof Absent) && !isPassedOver) break
    }
  }
  throw first ?? new Unfetched('GOPROXY lets nothing be fetched')
}

/** Names and passwords may stand in the address of a proxy; certificates are those of SSL_CERT_FILE, as for `go`. */
export function goWay(env: BuildEnv): Way {
  return async (url) => {
    const ca = env.SSL_CERT_FILE ? await readFile(env.SSL_CERT_FILE, 'utf8').catch(() => undefined) : undefined
    return {
      ...basicAuthorization(url),
      ...(ca !== undefined && url.protocol === 'https:' && { tls: { ca } }),
    }
  }
}
