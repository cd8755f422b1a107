import { shellWord } from '../shell-word.ts'
import { readPackageJson } from './package-json.ts'
import type { SourceView } from './source-view.ts'

export interface WorkspaceBuild {
  title: 'Turborepo' | 'Nx'
  /** Run in the root of the workspace. */
  command: string
  env: Record<string, string>
}

/** Builds a member by the program that its workspace has for it, so that the members it needs are built before it. */
export function workspaceBuild(root: SourceView, appName: string | undefined): WorkspaceBuild | undefined {
  const packages = readPackageJson(root)?.packages
  if (packages === undefined || appName === undefined) return undefined
  if (packages.has('turbo') && root.has('turbo.json')) {
    return {
      title: 'Turborepo',
      // Variables of the service reach the build though turbo.json does not name them.
      command: `turbo run build --filter ${shellWord(appName)} --env-mode=loose`,
      env: { TURBO_TELEMETRY_DISABLED: '1' },
    }
  }
  if (!packages.has('nx') || !root.has('nx.json')) return undefined
  // Its daemon would outlive the build, and its terminal is nobody's.
  return { title: 'Nx', command: `nx run ${shellWord(`${appName}:build`)}`, env: { NX_DAEMON: 'false', NX_TUI: 'false' } }
}
