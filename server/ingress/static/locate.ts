import type { PathRule, StaticRoute } from '../route-table.ts'
import type { Found, SiteFile, StaticFiles } from './files.ts'
import { fillPath, matchPath } from './path-pattern.ts'
import { encodePath, parseRequestPath, type RequestPath } from './request-path.ts'

/** What a path of a site stands for. */
export type Located =
  | { kind: 'file'; file: SiteFile; status: 200 | 404 }
  | { kind: 'redirect'; location: string; status: number }
  | { kind: 'missing' }

const DEFAULT_REDIRECT = 301
const MISSING: Located = { kind: 'missing' }

/**
 * Finds what to answer, in this order: redirect rules; the file itself, `index.html` of a folder, the name with `.html` added; rewrite
 * rules, the first whose destination is a file; `404.html`.
 */
export async function locate(files: StaticFiles, route: StaticRoute, path: RequestPath): Promise<Located> {
  const plainPath = decodedPath(path)
  const redirect = firstRedirect(route.rules, plainPath)
  if (redirect !== undefined) return { ...redirect, location: withQuery(redirect.location, path.query) }
  const found = await findFile(files, route, path)
  if (found !== undefined) return found
  for (const rule of route.rules) {
    const rewritten = rule.type === 'rewrite' ? rewrite(rule, plainPath) : undefined
    const target = rewritten && (await findFile(files, route, rewritten))
    if (target?.kind === 'file') return target
  }
  const notFound = await files.find(route, ['404.html'])
  return notFound?.kind === 'file' ? { kind: 'file', file: notFound.file, status: 404 } : MISSING
}

/** With single slashes, as rules see it. */
export function decodedPath({ segments, hasTrailingSlash }: RequestPath): string {
  const path = `/${segments.join('/')}`
  return hasTrailingSlash && segments.length > 0 ? `${path}/` : path
}

function firstRedirect(rules: readonly PathRule[], path: string) {
  for (const rule of rules) {
    const match = rule.type === 'redirect' ? matchPath(rule.source, path) : undefined
    if (match === undefined) continue
    return { kind: 'redirect' as const, location: fillPath(rule.destination, match), status: rule.status ?? DEFAULT_REDIRECT }
  }
  return undefined
}

function rewrite(rule: PathRule, path: string): RequestPath | undefined {
  const match = matchPath(rule.source, path)
  return match && parseRequestPath(fillPath(rule.destination, match))
}

async function findFile(files: StaticFiles, route: StaticRoute, path: RequestPath): Promise<Located | undefined> {
  const { segments, hasTrailingSlash } = path
  const found = await files.find(route, segments)
  if (found?.kind === 'directory') return findIndex(files, route, path)
  if (found !== undefined) return hasTrailingSlash ? undefined : asFile(found)
  const last = segments.at(-1)
  if (last === undefined || hasTrailingSlash) return undefined
  const page = await files.find(route, [...segments.slice(0, -1), `${last}.html`])
  // `/about.html` stays reachable too; only `/about/` is not the same page, as relative links in it would break.
  return page && asFile(page)
}

async function findIndex(
  files: StaticFiles,
  route: StaticRoute,
  { segments, hasTrailingSlash, query }: RequestPath,
): Promise<Located | undefined> {
  const index = await files.find(route, [...segments, 'index.html'])
  if (index?.kind !== 'file') return undefined
  if (hasTrailingSlash || segments.length === 0) return asFile(index)
  return { kind: 'redirect', location: withQuery(encodePath(segments, true), query), status: DEFAULT_REDIRECT }
}

function asFile(found: Found): Located | undefined {
  return found.kind === 'file' ? { kind: 'file', file: found.file, status: 200 } : undefined
}

function withQuery(location: string, query: string): string {
  return location.includes('?') ? location : location + query
}
