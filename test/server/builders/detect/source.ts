import type { SourceView } from '../../../../server/builders/detect/source-view.ts'
import { type Tool, type Toolchains, type ToolName, toolNames } from '../../../../server/builders/toolchains/tool.ts'

/** A source of these files, held in memory. */
export function sourceOf(contents: Record<string, string>): SourceView {
  return {
    has: (path) => Object.hasOwn(contents, path),
    read: (path) => contents[path],
    head: (path) => contents[path],
    names: (path) => partsBelow(path).flatMap(([name, ...rest]) => (name !== undefined && rest.length === 0 ? [name] : [])),
    folders: (path) => [...new Set(partsBelow(path).flatMap(([name, ...rest]) => (name !== undefined && rest.length > 0 ? [name] : [])))],
  }

  function partsBelow(path: string): string[][] {
    const below = path === '.' ? '' : `${path}/`
    const paths = Object.keys(contents).filter((name) => name.startsWith(below))
    return paths.sort().map((name) => name.slice(below.length).split('/'))
  }
}

const tool = (name: string): Tool => ({ directory: `/tools/${name}/bin`, env: {}, readOnlyBinds: [] })

export function toolchainsOf(...names: readonly ToolName[]): Toolchains {
  return { tools: Object.fromEntries(names.map((name) => [name, tool(name)])), problems: {} }
}

export const everyTool = toolchainsOf(...toolNames)

/** A machine where nothing is installed and our own executable stands in for Bun. */
export const onlyOurselves: Toolchains = {
  tools: { bun: { directory: '/data/toolchain', env: { BUN_BE_BUN: '1' }, readOnlyBinds: [] } },
  problems: {},
  standIn: { directory: '/data/toolchain/stand-in', env: { BUN_BE_BUN: '1' }, readOnlyBinds: [] },
}
