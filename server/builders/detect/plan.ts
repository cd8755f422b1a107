import type { Stack } from '../../platform/stack.ts'
import type { Launch } from '../launch.ts'
import type { BuildSettings } from '../port.ts'
import type { Toolchains } from '../toolchains/tool.ts'
import type { SourceView } from './source-view.ts'

/** What detection looks at. It reads nothing else, so the same input always gives the same plan. */
export interface DetectInput {
  files: SourceView
  settings: BuildSettings
  toolchains: Toolchains
  env?: Readonly<Record<string, string>>
  workspace?: { files: SourceView; appDir: string }
}

export type KeptFolder = 'node_modules' | '.venv'

export interface BuildStep {
  name: string
  command: string
  dir?: string
  /** The files that its result follows from, where that can be kept for later builds, and the folders that it is in, of this name. */
  inputs?: string[]
  keeps?: KeptFolder
}

export interface BuildPlan {
  runtime: Launch['runtime']
  packageManager?: 'npm' | 'pnpm' | 'yarn' | 'bun' | 'pip' | 'uv'
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

export const stackOf = ({ pathEntries, readOnlyBinds }: Pick<BuildPlan, 'pathEntries' | 'readOnlyBinds'>): Stack => ({
  kind: 'host',
  folders: readOnlyBinds,
  searchPath: pathEntries,
})

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
