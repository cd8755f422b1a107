import { AppError } from '../../../shared/error.ts'

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export const isStateChanging = (method: string): boolean => !safeMethods.has(method)

/** Browsers attach our cookie to what other sites have them send. @throws AppError `forbidden` unless a page of ours sent it. */
export function requireOwnOrigin(headers: Headers, ownOrigins: ReadonlySet<string>): void {
  if (!isFromOwnPage(headers, ownOrigins)) {
    throw new AppError('forbidden', 'This request came from another site. Send it from the public URL of this server, or use an API key.')
  }
}

/** Refuses only what shows another site's page, for requests that carry no cookie of ours. @throws AppError `forbidden`. */
export function refuseForeignOrigin(headers: Headers, ownOrigins: ReadonlySet<string>): void {
  if (headers.has('origin') || headers.has('sec-fetch-site')) requireOwnOrigin(headers, ownOrigins)
}

function isFromOwnPage(headers: Headers, ownOrigins: ReadonlySet<string>): boolean {
  const origin = headers.get('origin')
  if (origin !== null) return ownOrigins.has(origin)
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const referer = headers.get('referer')
  return referer !== null && URL.canParse(referer) && ownOrigins.has(new URL(referer).origin)
}
