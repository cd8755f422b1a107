import { fillPath, MatchBudget, matchPath } from '../rules/path-pattern.ts'
import { type CompiledRule, compileRules, DEFAULT_REDIRECT, type PathRules, redirectOf } from '../rules/path-rules.ts'
import type { StaticRoute } from '../tables/route-table.ts'
import { ByteCache } from './byte-cache.ts'
import type { Coding } from './encoding.ts'
import type { Found, SiteFile, StaticFiles } from './files.ts'
import type { FormReplies } from './reply.ts'
import { encodePath, parseRequestPath, type RequestPath } from './request-path.ts'

export type Located =
  | { kind: 'file'; file: SiteFile; status: 200 | 404 }
  | { kind: 'redirect'; location: string; status: number }
  | { kind: 'missing' }

const MISSING: Located = { kind: 'missing' }

export interface Site {
  route: StaticRoute
  rules: PathRules
  known: ByteCache<KnownFile>
}

export interface KnownFile {
  file: SiteFile
  status: 200 | 404
  path: string
  replies: Map<Coding, FormReplies>
}

/** Room for the paths of one site: about five hundred of them. */
const KNOWN_BYTES = 1024 * 1024
const KNOWN_ENTRY_BYTES = 2048

export function createSite(route: StaticRoute): Site {
  return { route, rules: compileRules(route), known: new ByteCache(KNOWN_BYTES) }
}

/** Remembers what a path stands for. What is missing is not remembered: anybody can ask for anything. */
export function remember({ known }: Site, path: string, file: KnownFile): void {
  if (file.status === 200) known.set(path, file, KNOWN_ENTRY_BYTES + 2 * path.length)
}

/**
 * Finds what to answer, in this order: redirect rules; the file itself, `index.html` of a folder, the name with `.html` added; rewrite
 * rules, the first whose destination is a file; `404.html`.
 */
export async function locate(files: StaticFiles, { route, rules }: Site, path: RequestPath): Promise<Located> {
  const plainPath = decodedPath(path)
  const redirect = redirectOf(rules, plainPath, path.query)
  if (redirect !== undefined) return { kind: 'redirect', ...redirect }
  const found = await findFile(files, route, path)
  if (found !== undefined) return found
  const budget = new MatchBudget()
  for (const rule of rules.rewrites) {
    const rewritten = rewrite(rule, plainPath, budget)
    const target = rewritten && (await findFile(files, route, rewritten))
    if (target?.kind === 'file') return target
  }
  const notFound = await files.find(route, ['404.html'])
  return notFound?.kind === 'file' ? { kind: 'file', file: notFound.file, status: 404 } : MISSING
}

export function decodedPath({ segments, hasTrailingSlash }: RequestPath): string {
  const path = `/${segments.join('/')}`
  return hasTrailingSlash && segments.length > 0 ? `${path}/` : path
}

function rewrite(rule: CompiledRule, path: string, budget: MatchBudget): RequestPath | undefined {
  const match = matchPath(rule.pattern, path, budget)
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
  return { kind: 'redirect', location: `${encodePath(segments, true)}${query}`, status: DEFAULT_REDIRECT }
}

function asFile(found: Found): Located | undefined {
  return found.kind === 'file' ? { kind: 'file', file: found.file, status: 200 } : undefined
}
