import { AppError } from '../../../shared/error.ts'

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether a request of this method may change something. */
export const isStateChanging = (method: string): boolean => !safeMethods.has(method)

/**
 * Refuses what another site made a browser send: browsers attach our cookie to such requests, and only their Origin tells.
 * Clients without any of the three headers are not browsers, and those have no business with a cookie.
 *
 * @throws AppError `forbidden` unless Origin, else Sec-Fetch-Site, else Referer says that one of our own pages sent it.
 */
export function requireOwnOrigin(headers: Headers, ownOrigins: ReadonlySet<string>): void {
  if (!isFromOwnPage(headers, ownOrigins)) {
    throw new AppError('forbidden', 'This request came from another site. Send it from the public URL of this server, or use an API key.')
  }
}

/** As `requireOwnOrigin`, for requests that carry no cookie of ours: only a sign of another site's page is refused. */
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
