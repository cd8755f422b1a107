import type { Framework, FrameworkApp, Outcome } from './framework.ts'
import { serverFrameworks } from './framework-servers.ts'
import { siteFrameworks } from './framework-sites.ts'
import type { WorkspaceBuild } from './workspace-build.ts'

export interface FoundFramework extends Framework {
  /** Which of its packages told it. */
  foundBy: string
  result: Outcome
}

/** Asked in this order, as many of them bring another along. */
const frameworks: readonly Framework[] = [...serverFrameworks, ...siteFrameworks]

export function findFramework(app: Omit<FrameworkApp, 'buildCommand'> & { buildCommand: string | undefined }): FoundFramework | undefined {
  for (const framework of frameworks) {
    const foundBy = framework.packages.find((name) => app.pkg.packages.has(name))
    if (foundBy === undefined) continue
    const buildCommand = app.buildCommand || app.pkg.scripts.build || framework.build || ''
    return { ...framework, foundBy, result: framework.outcome({ ...app, buildCommand }) }
  }
  return undefined
}

/** Whether a start script is what a release is to be started with. */
export function isFitStart(framework: FoundFramework | undefined, script: string): boolean {
  if (framework === undefined) return true
  const { unfitStart, result } = framework
  return !unfitStart?.test(script) && !(result.gives === 'server' && result.replaces?.test(script))
}

export function frameworkNotes(framework: FoundFramework | undefined, builtBy: WorkspaceBuild | undefined): string[] {
  return [
    ...(framework === undefined ? [] : [describeFramework(framework)]),
    ...(builtBy === undefined ? [] : [`${builtBy.title} builds it, with the members of the workspace that it needs.`]),
  ]
}

const gifts = { server: 'a program that answers requests', site: 'a folder of files', nothing: 'nothing that runs here' }

const describeFramework = ({ title, foundBy, result }: FoundFramework): string =>
  `Framework: ${title} (${foundBy} in package.json), which gives ${gifts[result.gives]}.`
