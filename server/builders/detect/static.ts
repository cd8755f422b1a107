import { join } from 'node:path/posix'
import { AppError } from '../../../shared/error.ts'
import { javascriptSteps, openProject } from './javascript.ts'
import { type BuildPlan, type DetectInput, planWithoutToolchain } from './plan.ts'
import type { SourceView } from './source-view.ts'

/** Where the usual generators put a site, in the order they are tried. */
const BUILT_FOLDERS = ['dist', 'build', 'out', '_site', 'public']
const READY_FOLDERS = ['.', 'public', 'dist', 'build', 'out', '_site']

export function detectStatic(input: DetectInput): BuildPlan {
  const { files, settings } = input
  const project = files.has('package.json') ? openProject(input) : undefined
  const isBuilt = Boolean(settings.buildCommand) || project?.pkg.scripts.build !== undefined
  const detected = isBuilt ? BUILT_FOLDERS : readyFolders(files)
  const publishPaths = settings.publishPath ? [settings.publishPath] : detected
  if (publishPaths.length === 0) {
    throw new AppError(
      'bad_request',
      'There is nothing to publish: add an index.html or a "build" script in package.json, or set buildCommand and publishPath',
    )
  }
  const plan =
    isBuilt && project !== undefined ? { ...project.plan, steps: javascriptSteps(input, project) } : settingsOnly(settings.buildCommand)
  const { appDir } = plan
  return {
    ...plan,
    runtime: 'static',
    publishPaths: appDir === undefined ? publishPaths : publishPaths.map((path) => join(appDir, path)),
    runtimeEnv: {},
  }
}

const settingsOnly = (buildCommand: string | undefined): BuildPlan => ({
  ...planWithoutToolchain('static', buildCommand),
  notes: buildCommand ? [] : ['There is nothing to build.'],
})

const readyFolders = (files: SourceView): string[] =>
  READY_FOLDERS.filter((folder) => files.has(folder === '.' ? 'index.html' : `${folder}/index.html`)).slice(0, 1)
