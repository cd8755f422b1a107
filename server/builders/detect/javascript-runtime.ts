import { mergeTools, requireTool, type Tool } from '../toolchains/tool.ts'
import { nodeWishes, wishOfEngine } from './node-wishes.ts'
import type { PackageJson } from './package-json.ts'
import { wantedManager } from './package-manager.ts'
import type { DetectInput } from './plan.ts'
import { type Running, runtimeNotes } from './runtime-notes.ts'
import type { SourceView } from './source-view.ts'
import { declaredStart } from './start-command.ts'

/** Files that start an app whose package.json does not say how, in the order they are tried. */
const ENTRY_FILES = ['server', 'index', 'app', 'main', 'src/server', 'src/index'].flatMap((name) =>
  ['js', 'mjs', 'cjs', 'ts', 'tsx', 'mts'].map((extension) => `${name}.${extension}`),
)

export function findEntry(files: SourceView, main?: string): string | undefined {
  const path = main?.replace(/^\.\//, '')
  const candidates = path ? [path, `${path}.js`, `${path}/index.js`, ...ENTRY_FILES] : ENTRY_FILES
  return candidates.find((candidate) => files.has(candidate))
}

/** Whether an app may be run by Bun where there is no Node.js. All others are run by Node.js, whatever they need it fetched for. */
export const asksForBun = (input: DetectInput, pkg: PackageJson): boolean =>
  input.settings.runtime === 'bun' || wantedManager(input, pkg).name === 'bun' || startsByBun(input, pkg)

export function javascriptRuntime(input: DetectInput, pkg: PackageJson): 'node' | 'bun' {
  const { runtime } = input.settings
  if (runtime === 'node' || runtime === 'bun') return runtime
  return wantedManager(input, pkg).name === 'bun' || startsTypescript(input, pkg) ? 'bun' : 'node'
}

export function javascriptTools(input: DetectInput, pkg: PackageJson): ReturnType<typeof mergeTools> {
  const { settings, toolchains } = input
  const mayLack = asksForBun(input, pkg)
  const need = (name: 'node' | 'npm') => (mayLack ? toolchains.tools[name] : requireTool(toolchains, name))
  const [node, npm] = settings.runtime === 'bun' ? [] : [need('node'), need('npm')]
  const isComplete = node !== undefined && npm !== undefined
  const bun = mayLack || callsBun(settings.buildCommand) || callsBun(pkg.scripts.build) ? requireTool(toolchains, 'bun') : undefined
  const standIn = isComplete ? undefined : toolchains.standIn
  return mergeTools([toolchains.manager, node, npm, standIn, bun].filter((tool): tool is Tool => tool !== undefined))
}

export function javascriptNotes(input: DetectInput, pkg: PackageJson): string[] {
  const running = javascriptRunning(input, pkg)
  const isNode = running.standsIn === 'needed' || running.title === 'Node.js'
  return runtimeNotes(running, isNode ? nodeWishes(input, pkg) : wishOfEngine('bun', pkg))
}

function javascriptRunning(input: DetectInput, pkg: PackageJson): Running & { title: 'Node.js' | 'Bun' } {
  const { settings, toolchains } = input
  const { node } = toolchains.tools
  if (settings.runtime !== 'bun' && node !== undefined && !startsByBun(input, pkg)) return { title: 'Node.js', tool: node }
  const bun = { title: 'Bun' as const, tool: requireTool(toolchains, 'bun') }
  if (settings.runtime === 'bun') return { ...bun, standsIn: 'wanted' }
  return node === undefined ? { ...bun, standsIn: 'needed' } : bun
}

export const isTypescript = (path: string | undefined): boolean => path !== undefined && /\.[cm]?tsx?$/.test(path)

const startsTypescript = (input: DetectInput, pkg: PackageJson): boolean =>
  startOf(input, pkg) === undefined && isTypescript(findEntry(input.files, pkg.main))

const startsByBun = (input: DetectInput, pkg: PackageJson): boolean => startsTypescript(input, pkg) || callsBun(startOf(input, pkg))

const startOf = (input: DetectInput, pkg: PackageJson): string | undefined => declaredStart(input) ?? pkg.scripts.start

const callsBun = (command: string | undefined): boolean => /\bbunx?\b/.test(command ?? '')
