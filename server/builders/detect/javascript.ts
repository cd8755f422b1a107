import { AppError } from '../../../shared/error.ts'
import { shellWord } from '../shell-word.ts'
import { type FoundFramework, findFramework, frameworkNotes, isFitStart } from './find-framework.ts'
import { findEntry, isTypescript, javascriptNotes, javascriptRuntime, javascriptTools } from './javascript-runtime.ts'
import { installInputs, whyNotKept } from './kept-dependencies.ts'
import { type PackageJson, readPackageJson } from './package-json.ts'
import { choosePackageManager, isLocked, type PackageManager, type WorkspacePart } from './package-manager.ts'
import type { BuildPlan, BuildStep, DetectInput } from './plan.ts'
import type { SourceView } from './source-view.ts'
import { asSite, declaredStart, requireStart } from './start-command.ts'
import { describeUnsupported } from './unsupported.ts'
import { isWorkspaceRoot } from './workspace.ts'
import { type WorkspaceBuild, workspaceBuild } from './workspace-build.ts'
import { type Member, membersOf, neededBy } from './workspace-members.ts'

const emptyPackage: PackageJson = {
  name: undefined,
  scripts: {},
  main: undefined,
  engines: {},
  volta: {},
  packageManager: undefined,
  workspaces: [],
  hasDependencies: false,
  packages: new Set(),
}

export const hasJavascript = (files: SourceView): boolean => files.has('package.json') || findEntry(files) !== undefined

export const packageOf = (files: SourceView): PackageJson => readPackageJson(files) ?? emptyPackage

export function detectJavascript(input: DetectInput): BuildPlan {
  const project = openProject(input)
  const start = startOf(input, project)
  return { ...project.plan, startCommand: start, steps: javascriptSteps(input, project) }
}

export interface JavascriptProject {
  pkg: PackageJson
  manager: PackageManager
  isInstalled: boolean
  framework: FoundFramework | undefined
  /** What builds it together with what it needs of its workspace. */
  builtBy: WorkspaceBuild | undefined
  /** The members of its workspace that it needs, each after those that it needs itself. */
  needed: Member[]
  installed: Member[]
  plan: BuildPlan
}

export function openProject(input: DetectInput): JavascriptProject {
  const { files, workspace, toolchains } = input
  const pkg = packageOf(files)
  const runtime = javascriptRuntime(input, pkg)
  const { pathEntries, env, readOnlyBinds } = javascriptTools(input, pkg)
  const builtBy = workspace && pkg.scripts.build ? workspaceBuild(workspace.files, pkg.name) : undefined
  const needed = workspace === undefined ? [] : neededBy(pkg, membersOf(workspace.files))
  const part = builtBy === undefined ? partOf(input, pkg, needed) : undefined
  const manager = choosePackageManager(input, pkg, part)
  const root = workspace?.files ?? files
  const members = workspace && part ? [{ dir: workspace.appDir, pkg }, ...needed] : membersOf(root)
  const installed = [{ dir: '', pkg: packageOf(root) }, ...members]
  const isInstalled = pkg.hasDependencies || isWorkspaceRoot(root)
  const framework = findFramework({ files, pkg, appDir: workspace?.appDir ?? '', buildCommand: input.settings.buildCommand })
  return {
    pkg,
    manager,
    isInstalled,
    framework,
    builtBy,
    needed,
    installed,
    plan: {
      runtime,
      ...(isInstalled || pkg.scripts.build ? { packageManager: manager.name } : {}),
      ...(workspace && { appDir: workspace.appDir }),
      steps: [],
      publishPaths: [],
      buildEnv: { ...env, ...toolchains.nodeBuildEnv, ...manager.env, ...framework?.buildEnv, ...builtBy?.env },
      cacheEnv: manager.cacheEnv,
      runtimeEnv: { ...env, NODE_ENV: 'production', ...(framework?.result.gives === 'server' && framework.result.env) },
      pathEntries: [...(workspace ? [`${workspace.appDir}/node_modules/.bin`] : []), 'node_modules/.bin', ...pathEntries],
      readOnlyBinds,
      notes: [
        ...frameworkNotes(framework, builtBy),
        ...installNotes({ root, installed, manager, isInstalled }),
        ...javascriptNotes(input, pkg),
      ],
    },
  }
}

export function javascriptSteps({ files, settings, workspace }: DetectInput, project: JavascriptProject): BuildStep[] {
  const dir = workspace && { dir: workspace.appDir }
  const { manager, isInstalled, framework } = project
  const finish = framework?.result.gives === 'server' ? framework.result.finish : undefined
  const finishing = finish === undefined ? [] : [{ name: 'make ready', command: finish, ...dir }]
  if (settings.buildCommand) return [{ name: 'build', command: settings.buildCommand, ...dir }, ...finishing]
  const steps = buildSteps(project, dir)
  const inputs = installInputs({ root: workspace?.files ?? files, packages: project.installed, manager })
  return [...(isInstalled ? installSteps(manager, inputs) : []), ...steps, ...(steps.length > 0 ? finishing : [])]
}

function buildSteps({ pkg, manager, framework, builtBy, needed }: JavascriptProject, dir: { dir: string } | undefined): BuildStep[] {
  if (builtBy !== undefined) return [{ name: 'build', command: builtBy.command }]
  const command = pkg.scripts.build ? manager.run('build') : framework?.build
  return [...memberSteps(manager, needed), ...(command === undefined ? [] : [{ name: 'build', command, ...dir }])]
}

function memberSteps({ run, buildMembers }: PackageManager, needed: readonly Member[]): BuildStep[] {
  const built = needed.filter(({ pkg }) => pkg.scripts.build !== undefined)
  if (built.length === 0) return []
  if (buildMembers !== undefined) return [{ name: 'build of what it needs', command: buildMembers(built) }]
  return built.map(({ dir }) => ({ name: `build of ${dir}`, command: run('build'), dir }))
}

function partOf({ workspace }: DetectInput, pkg: PackageJson, needed: readonly Member[]): WorkspacePart | undefined {
  if (workspace === undefined || pkg.name === undefined) return undefined
  return { name: pkg.name, dir: workspace.appDir, isBuilt: needed.some((member) => member.pkg.scripts.build !== undefined) }
}

const installSteps = ({ install, tellBlocked }: PackageManager, inputs: string[] | undefined): BuildStep[] => [
  { name: 'install', command: install, ...(inputs && { inputs }) },
  ...(tellBlocked === undefined ? [] : [{ name: 'install scripts that were not run', command: tellBlocked }]),
]

type Installed = Pick<JavascriptProject, 'installed' | 'manager' | 'isInstalled'> & { root: SourceView }

function installNotes({ root, installed, manager, isInstalled }: Installed): string[] {
  if (!isInstalled) return ['There are no dependencies to install.']
  const why = isLocked(root) ? whyNotKept({ root, packages: installed }) : undefined
  return [
    `Packages come from ${manager.name} (${manager.reason}).`,
    ...(why === undefined ? [] : [`They are installed anew in each build: ${why}.`]),
  ]
}

function startOf(input: DetectInput, project: JavascriptProject): string {
  const { pkg } = project
  const start = declaredStart(input) ?? detectedStart(input, project)
  const unsupported = start === undefined ? describeUnsupported(input.files) : undefined
  // A package.json for the front end alone, as Rails and Laravel have one.
  if (unsupported !== undefined) throw new AppError('bad_request', unsupported)
  if (start === undefined && makesPages(input.files, pkg)) throw new AppError('bad_request', asSite('This source builds a static site'))
  return requireStart(start, 'add a "start" script to package.json')
}

/** @throws AppError `bad_request` where its framework gives nothing that can be started. */
function detectedStart(input: DetectInput, { pkg, manager, framework }: JavascriptProject): string | undefined {
  const script = pkg.scripts.start
  if (script && isFitStart(framework, script)) return startScript(pkg, script, manager)
  const entry = findEntry(input.files, pkg.main)
  if (framework === undefined || (framework.hasServersBeside && entry !== undefined && !entry.startsWith('src/')))
    return entry && startEntry(input, entry)
  const { title, result } = framework
  if (result.gives === 'server') return result.start
  throw new AppError('bad_request', result.gives === 'site' ? asSite(`${title} builds a static site here`) : result.reason)
}

const makesPages = (files: SourceView, pkg: PackageJson): boolean =>
  pkg.scripts.build !== undefined &&
  ['index.html', 'public/index.html', 'src/index.html', 'src/pages/index.astro'].some((path) => files.has(path))

/** The script's own text, which saves the package manager's process beside the app, unless something hangs on it being run by one. */
function startScript(pkg: PackageJson, script: string, manager: PackageManager): string {
  const needsManager = pkg.scripts.prestart !== undefined || pkg.scripts.poststart !== undefined || /npm_|\bINIT_CWD\b/.test(script)
  return needsManager ? manager.run('start') : script
}

function startEntry({ settings }: DetectInput, entry: string): string {
  const program = settings.runtime === 'bun' || isTypescript(entry) ? 'bun' : 'node'
  return `${program} ${shellWord(`./${entry}`)}`
}
