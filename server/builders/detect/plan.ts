import type { Runtime } from '../../../shared/service-details.ts'
import type { ServiceType } from '../../../shared/service-type.ts'
import { shellWord } from '../shell-word.ts'
import type { Toolchains } from '../toolchains/tool.ts'
import type { SourceView } from './source-view.ts'

export interface BuildSettings {
  type: ServiceType
  runtime?: Runtime
  buildCommand?: string
  startCommand?: string
  publishPath?: string
}

/** What detection looks at. It reads nothing else, so the same input always gives the same plan. */
export interface DetectInput {
  files: SourceView
  settings: BuildSettings
  toolchains: Toolchains
  workspace?: { files: SourceView; appDir: string }
}

export interface BuildStep {
  name: string
  command: string
  dir?: string
}

export interface BuildPlan {
  runtime: Runtime | 'shell' | 'static'
  packageManager?: 'npm' | 'pnpm' | 'yarn' | 'bun' | 'pip'
  steps: BuildStep[]
  startCommand?: string
  /** The folder of the app in the source and the release, where it is a member of a workspace; absent where it is the root. */
  appDir?: string
  publishPaths: string[]
  buildEnv: Record<string, string>
  cacheEnv: Record<string, string>
  runtimeEnv: Record<string, string>
  /** For PATH in builds and at run time, before the system's folders. Relative ones are below the root of the source or release. */
  pathEntries: string[]
  readOnlyBinds: string[]
  notes: string[]
}

const SYSTEM_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

export function searchPathOf(plan: Pick<BuildPlan, 'pathEntries'>, root: string): string {
  const own = plan.pathEntries.map((entry) => (entry.startsWith('/') ? entry : `${root}/${entry}`))
  return [...new Set([...own, ...SYSTEM_PATH])].join(':')
}

/** A shell command that is run in a folder below its working directory. Not by the engine, which would enter it as root. */
export const commandIn = (dir: string | undefined, command: string): string =>
  dir === undefined ? command : `cd -- ${shellWord(dir)} || exit\n${command}`

export const planWithoutToolchain = (runtime: 'shell' | 'static', buildCommand: string | undefined): BuildPlan => ({
  runtime,
  steps: buildCommand ? [{ name: 'build', command: buildCommand }] : [],
  publishPaths: [],
  buildEnv: {},
  cacheEnv: {},
  runtimeEnv: {},
  pathEntries: [],
  readOnlyBinds: [],
  notes: [],
})
