import { join } from 'node:path'
import { searchPathIn } from '../../platform/stack.ts'
import { describeUse, measured, type StepUse } from '../build-use.ts'
import { type BuildPlan, type BuildStep, stackOf } from '../detect/plan.ts'
import { commandIn } from '../launch.ts'
import type { StepExit } from '../port.ts'
import { firstLine, requireSuccess } from '../step-exit.ts'
import { type ArtifactOptions, takeArtifact } from './artifact.ts'
import { KEPT_VARIABLE, keepingInstall } from './keep-dependencies.ts'

export interface PlacedStep extends BuildStep {
  cwd: string
  env: Record<string, string>
}

export interface BuildOptions extends Pick<ArtifactOptions, 'buildDir' | 'sourceDir' | 'owner' | 'log'> {
  cacheDir: string
  plan: BuildPlan
  /** Over the plan's variables: what the operator passes to builds, then the service's own. PATH and the places of caches cannot be set. */
  env: Record<string, string>
  runStep: (step: PlacedStep) => Promise<StepExit>
  signal: AbortSignal
}

/** Runs a plan in `sourceDir`; returns the folder to release. @throws AppError `bad_request` naming the step that failed and how; the signal's reason when aborted. */
export async function buildRelease(options: BuildOptions): Promise<string> {
  const { plan, log } = options
  for (const line of describePlan(plan)) log(line)
  const uses: StepUse[] = []
  try {
    await runSteps(options, uses)
  } finally {
    for (const line of describeUse(uses)) log(line)
  }
  const artifactDir = await takeArtifact({ ...options, publishPaths: plan.publishPaths })
  log('==> Build succeeded')
  return artifactDir
}

async function runSteps(options: BuildOptions, uses: StepUse[]): Promise<void> {
  const { sourceDir, plan, log, signal } = options
  const env = buildEnvironment(options)
  for (const step of plan.steps) {
    signal.throwIfAborted()
    log(`==> ${step.name}: ${firstLine(step.command)}`)
    const { command, variables } = keeping(step, options)
    const placed = { ...step, command: commandIn(step.dir, command), cwd: sourceDir, env: { ...env, ...variables } }
    const { exit, use } = await measured(step.name, () => options.runStep(placed))
    signal.throwIfAborted()
    uses.push(use)
    requireSuccess(step, exit)
  }
}

const keeping = (
  { command, inputs, keeps }: BuildStep,
  { cacheDir }: BuildOptions,
): { command: string; variables: Record<string, string> } =>
  inputs === undefined
    ? { command, variables: {} }
    : {
        command: keepingInstall({ command, inputs, ...(keeps && { keeps }) }),
        variables: { [KEPT_VARIABLE]: join(cacheDir, 'dependencies') },
      }

function describePlan(plan: BuildPlan): string[] {
  return [
    `==> Detected ${plan.runtime}${plan.packageManager === undefined ? '' : ` with ${plan.packageManager}`}`,
    ...(plan.appDir === undefined ? [] : [`    app: ${plan.appDir}, a member of the workspace above it`]),
    ...plan.steps.map((step) => `    ${step.name}: ${firstLine(step.command)}`),
    ...(plan.startCommand === undefined ? [] : [`    start: ${plan.startCommand}`]),
    ...(plan.publishPaths.length === 0 ? [] : [`    publish: ${plan.publishPaths.join(' or ')}`]),
    ...plan.notes.map((note) => `    ${note}`),
  ]
}

function buildEnvironment({ sourceDir, cacheDir, plan, env }: BuildOptions): Record<string, string> {
  const cached = Object.entries(plan.cacheEnv).map(([name, folder]) => [name, join(cacheDir, folder)])
  // The caches come last: npm hands its own to whatever it starts, so the operator's may be another user's.
  return { ...plan.buildEnv, ...env, ...addedFlags(plan, env), ...Object.fromEntries(cached), PATH: searchPathIn(stackOf(plan), sourceDir) }
}

/** A list of flags, of which the last of a kind counts: what the operator or the service sets comes beside ours. */
const FLAGS = 'GOFLAGS'

function addedFlags(plan: BuildPlan, env: Record<string, string>): Record<string, string> {
  const [own, set] = [plan.buildEnv[FLAGS], env[FLAGS]]
  return own === undefined ? {} : { [FLAGS]: set ? `${set} ${own}` : own }
}
