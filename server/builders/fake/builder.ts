import { traitsOf } from '../../../shared/service-type.ts'
import type { Stack } from '../../platform/stack.ts'
import { describeUse, measured } from '../build-use.ts'
import type { Launch } from '../launch.ts'
import type { Builder, BuildRequest, BuildSettings, BuiltRelease } from '../port.ts'
import { requireSuccess } from '../step-exit.ts'

interface FakeBuilderOptions {
  keep(ownerId: string, built: string, signal: AbortSignal): Promise<string>
}

const stack: Stack = { kind: 'host', folders: [], searchPath: [] }

/** A builder in memory, for tests: the build command is its one step, and the digest follows from the settings and the upload. */
export const createFakeBuilder = ({ keep }: FakeBuilderOptions): Builder => ({
  async plan({ rootDir, settings }) {
    const { buildCommand: command, startCommand, publishPath } = settings
    return {
      ...{ runtime: runtimeOf(settings), rootDir, notes: [] },
      steps: command === undefined ? [] : [{ name: 'build', command }],
      ...(startCommand !== undefined && { startCommand }),
      publishPaths: publishPath === undefined ? [] : [publishPath],
    }
  },
  async build(request) {
    const { owner, source, settings, signal } = request
    signal.throwIfAborted()
    const { buildCommand: command = '', startCommand = '' } = settings
    if (command !== '') await runStep(request, command)
    const artifact = await keep(owner.id, JSON.stringify({ source: source.sha256, command, startCommand }), signal)
    request.log('==> Build succeeded')
    return { artifact, launch: launchOf(request) }
  },
  async tidy() {},
})

async function runStep({ env, log, runStep: run, signal }: BuildRequest, command: string): Promise<void> {
  log(`==> build: ${command}`)
  const { exit, use } = await measured('build', () => run({ name: 'build', command, dir: '', env, stack, network: 'none' }))
  signal.throwIfAborted()
  for (const line of describeUse([use])) log(line)
  requireSuccess({ command }, exit)
}

const launchOf = ({ settings }: BuildRequest): BuiltRelease['launch'] => ({
  runtime: runtimeOf(settings),
  startCommand: settings.startCommand ?? '',
  env: {},
  stack,
})

const runtimeOf = ({ type, runtime }: BuildSettings): Launch['runtime'] => runtime ?? (traitsOf(type).runsProgram ? 'shell' : 'static')
