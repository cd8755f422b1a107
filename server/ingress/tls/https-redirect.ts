export interface PlainRequest {
  method: string
  host: string
  target: string
  port: number
  claimedScheme: string | undefined
}

export interface Redirect {
  status: 301 | 308
  location: string
}

const HTTPS_PORT = 443
/** Others must come again as they are, with their body, which 301 does not promise. */
const readingMethods = new Set(['GET', 'HEAD'])

export function redirectToHttps({ method, host, target, port, claimedScheme }: PlainRequest): Redirect | undefined {
  const scheme = claimedScheme?.split(',', 1)[0]?.trim().toLowerCase()
  if (scheme === 'https' || !target.startsWith('/')) return undefined
  const authority = port === HTTPS_PORT ? host : `${host}:${port}`
  return { status: readingMethods.has(method) ? 301 : 308, location: `https://${authority}${target}` }
}
