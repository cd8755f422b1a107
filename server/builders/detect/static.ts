import { join } from 'node:path/posix'
import { AppError } from '../../../shared/error.ts'
import { type FoundFramework, findFramework } from './find-framework.ts'
import { javascriptSteps, openProject, packageOf } from './javascript.ts'
import { type BuildPlan, type DetectInput, planWithoutToolchain } from './plan.ts'
import type { SourceView } from './source-view.ts'

/** Where the usual generators put a site, in the order they are tried. */
const BUILT_FOLDERS = ['dist', 'build', 'out', '_site', 'public']
const READY_FOLDERS = ['.', 'public', 'dist', 'build', 'out', '_site']

export function detectStatic(input: DetectInput): BuildPlan {
  const { files, settings } = input
  const project = isBuiltSite(input) ? openProject(input) : undefined
  const isBuilt = project !== undefined && javascriptSteps(input, project).some(({ name }) => name === 'build')
  const detected = isBuilt || settings.buildCommand ? builtFolders(input, project?.framework) : readyFolders(files)
  const publishPaths = settings.publishPath ? [settings.publishPath] : detected
  if (publishPaths.length === 0) {
    throw new AppError(
      'bad_request',
      'There is nothing to publish: add an index.html or a "build" script in package.json, or set buildCommand and publishPath',
    )
  }
  const plan = isBuilt ? { ...project.plan, steps: javascriptSteps(input, project) } : settingsOnly(settings.buildCommand)
  const { appDir } = plan
  return {
    ...plan,
    runtime: 'static',
    publishPaths: appDir === undefined ? publishPaths : publishPaths.map((path) => join(appDir, path)),
    runtimeEnv: {},
  }
}

/** Whether there is JavaScript to run for it; other sites are files already, though a package.json may lie beside them. */
export function isBuiltSite({ files, settings, workspace }: DetectInput): boolean {
  if (!files.has('package.json')) return false
  const pkg = packageOf(files)
  if (settings.buildCommand || pkg.scripts.build) return true
  return findFramework({ files, pkg, appDir: workspace?.appDir ?? '', buildCommand: undefined })?.build !== undefined
}

/** @throws AppError `bad_request` where its framework gives no files. */
function builtFolders({ settings }: DetectInput, framework: FoundFramework | undefined): string[] {
  if (framework === undefined || settings.publishPath) return BUILT_FOLDERS
  const { title, result } = framework
  if (result.gives === 'site') return [...new Set([...result.publish, ...BUILT_FOLDERS])]
  if (settings.buildCommand) return BUILT_FOLDERS
  if (result.gives === 'nothing') throw new AppError('bad_request', result.reason)
  const remedies = [...(result.forSite === undefined ? [] : [`for files, ${result.forSite}`]), 'or set publishPath']
  throw new AppError(
    'bad_request',
    `${title} builds a program that answers requests here, and no site: create it as a web_service; ${remedies.join(', ')}`,
  )
}

const settingsOnly = (buildCommand: string | undefined): BuildPlan => ({
  ...planWithoutToolchain('static', buildCommand),
  notes: buildCommand ? [] : ['There is nothing to build.'],
})

const readyFolders = (files: SourceView): string[] =>
  READY_FOLDERS.filter((folder) => files.has(folder === '.' ? 'index.html' : `${folder}/index.html`)).slice(0, 1)
