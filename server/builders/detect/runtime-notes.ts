import { parseWish } from '../toolchains/node/choose-version.ts'
import type { Tool } from '../toolchains/tool.ts'
import type { SourceView } from './source-view.ts'

export interface Wish {
  source: string
  wanted: string
  /** Where that is written otherwise than npm's ranges; it says nothing where nobody can tell. */
  isMetBy?(version: string): boolean | undefined
}

export interface Running {
  title: 'Node.js' | 'Bun' | 'Python' | 'Go' | 'Rust'
  tool: Tool
  standsIn?: 'wanted' | 'needed'
}

export function runtimeNotes(running: Running, wishes: readonly Wish[]): string[] {
  const { title, tool, standsIn } = running
  const what = tool.version === undefined ? title : `${title} ${tool.version}`
  const place = tool.isOurs ? 'part of cpd' : tool.directory
  const alsoAs = standsIn === undefined ? '' : ', also where the app asks for node, npm or npx'
  const why = standsIn === 'needed' ? ': there is no Node.js on this server' : ''
  return [`Runtime: ${what} (${place})${alsoAs}${why}.`, ...wishes.map((wish) => describeWish(wish, { ...running, what }))]
}

function describeWish(
  { source, wanted, isMetBy = (version) => isInRange(version, wanted) }: Wish,
  { what, title, tool, standsIn }: Running & { what: string },
): string {
  const isNodeByBun = standsIn === 'needed'
  const version = isNodeByBun ? process.versions.node : tool.version
  const isMet = version === undefined ? undefined : isMetBy(version)
  const asks = `${source} asks for ${isNodeByBun ? 'Node.js' : title} ${wanted}`
  if (isMet !== false) return `${asks}${isMet ? ', and has it' : ''}.`
  const gets = isNodeByBun ? `${what}, which acts as Node.js ${version}` : what
  const remedy = title === 'Node.js' ? 'let one place alone name a version' : 'ask the operator of this server to install what it asks for'
  return `Warning: ${asks}, and gets ${gets}. If it does not work, ${remedy}.`
}

/** Undefined where the wish names no versions (`lts/*`): nothing can be said then. */
function isInRange(version: string, wanted: string): boolean | undefined {
  const wish = parseWish(wanted)
  return wish?.kind === 'range' ? Bun.semver.satisfies(version, wish.range) : undefined
}

/** The older file holds the channel alone, or what the newer one does. */
export const rustWishes = (files: SourceView): Wish[] =>
  ['rust-toolchain', 'rust-toolchain.toml'].flatMap((path) => {
    const text = files.read(path)
    return wish(path, /^[ \t]*channel[ \t]*=[ \t]*["']([^"'\n]*)["']/m.exec(text ?? '')?.[1] ?? (text?.includes('[') ? undefined : text))
  })

const MAX_WISH_LENGTH = 200

export function wish(source: string, text: string | undefined): Wish[] {
  const line = text?.split('\n').find((one) => one.trim() !== '' && !one.trim().startsWith('#'))
  const wanted = line?.trim().replace(/^v(?=\d)/, '')
  return wanted !== undefined && /^[\x20-\x7e]+$/.test(wanted) && wanted.length <= MAX_WISH_LENGTH ? [{ source, wanted }] : []
}
