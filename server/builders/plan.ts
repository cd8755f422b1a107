import type { Runtime } from '../../shared/service.ts'
import type { ServiceType } from '../../shared/service-type.ts'
import { shellWord } from './shell-word.ts'
import type { SourceView } from './source-view.ts'
import type { Toolchains } from './tool.ts'

/** What the owner of a service has set; whatever is set wins over what would be detected. */
export interface BuildSettings {
  type: ServiceType
  runtime?: Runtime
  buildCommand?: string
  startCommand?: string
  /** Of a static site, relative to the root of its source. */
  publishPath?: string
}

/** What detection looks at. It reads nothing else, so the same input always gives the same plan. */
export interface DetectInput {
  files: SourceView
  settings: BuildSettings
  toolchains: Toolchains
  /** What the app is a member of: `files` are then those of its folder `appDir`, and the workspace's own are here. */
  workspace?: { files: SourceView; appDir: string }
}

/** One shell command of a build. It is run inside the service's sandbox, as the service's user, in the root of the source or its folder `dir`. */
export interface BuildStep {
  name: string
  command: string
  dir?: string
}

/** How a source becomes a release, and what the release needs when it runs. */
export interface BuildPlan {
  /** `shell` for apps that a command starts without any toolchain of ours. */
  runtime: Runtime | 'shell' | 'static'
  packageManager?: 'npm' | 'pnpm' | 'yarn' | 'bun' | 'pip'
  steps: BuildStep[]
  /** Absent for static sites only. A shell command with `appDir` of the release as its working directory. */
  startCommand?: string
  /** The folder of the app in the source and the release, where it is a member of a workspace; absent where it is the root. */
  appDir?: string
  /** Folders that may hold the built site, the first existing one is published; empty unless static. */
  publishPaths: string[]
  buildEnv: Record<string, string>
  /** Variables that hold a folder below the service's build cache; `buildRelease` makes them absolute. */
  cacheEnv: Record<string, string>
  runtimeEnv: Record<string, string>
  /** For PATH in builds and at run time, before the system's folders. Relative ones are below the root of the source or release. */
  pathEntries: string[]
  /** Folders inside private homes that the build and the instances must see at the same path. */
  readOnlyBinds: string[]
  /** Told to the user at the top of the build log. */
  notes: string[]
}

const SYSTEM_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** The value of PATH for a build in `root`, or for a release that stands there. */
export function searchPathOf(plan: Pick<BuildPlan, 'pathEntries'>, root: string): string {
  const own = plan.pathEntries.map((entry) => (entry.startsWith('/') ? entry : `${root}/${entry}`))
  return [...new Set([...own, ...SYSTEM_PATH])].join(':')
}

/** A shell command that is run in a folder below its working directory. Not by the engine, which would enter it as root. */
export const commandIn = (dir: string | undefined, command: string): string =>
  dir === undefined ? command : `cd -- ${shellWord(dir)} || exit\n${command}`

/** A plan that needs no toolchain of ours: the user's own build command, if there is one. */
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
