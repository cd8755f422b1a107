import { AppError } from '../../../shared/error.ts'
import { shellWord } from '../shell-word.ts'
import { mergeTools, requireTool } from '../toolchains/tool.ts'
import { goWishes } from './go-wishes.ts'
import type { BuildPlan, BuildStep, DetectInput } from './plan.ts'
import { runtimeNotes, rustWishes } from './runtime-notes.ts'
import type { SourceView } from './source-view.ts'
import { declaredStart, requireStart } from './start-command.ts'

const PROGRAM = '.release/app'

export function detectGo(input: DetectInput): BuildPlan {
  const go = requireTool(input.toolchains, 'go')
  const { env, ...tools } = mergeTools([go])
  return {
    runtime: 'go',
    steps: compileSteps(input, () => `go build -buildvcs=false -o ${PROGRAM} ${shellWord(goPackage(input.files))}`),
    startCommand: compiledStart(input),
    publishPaths: [],
    // The module cache is read-only otherwise, and the service's user could not clear its own cache.
    buildEnv: { ...env, GOFLAGS: '-modcacherw' },
    cacheEnv: { GOPATH: 'go', GOCACHE: 'go-build', GOMODCACHE: 'go/pkg/mod' },
    runtimeEnv: {},
    ...tools,
    notes: runtimeNotes({ title: 'Go', tool: go }, goWishes(input)),
  }
}

export function detectRust(input: DetectInput): BuildPlan {
  const cargo = requireTool(input.toolchains, 'cargo')
  const { env, ...tools } = mergeTools([cargo])
  const build = () => {
    const binary = rustBinary(input.files)
    const locked = input.files.has('Cargo.lock') ? ' --locked' : ''
    return `cargo build --release${locked} --bin ${shellWord(binary)} && mkdir -p .release && cp "$CARGO_TARGET_DIR"/release/${shellWord(binary)} ${PROGRAM}`
  }
  return {
    runtime: 'rust',
    steps: compileSteps(input, build),
    startCommand: compiledStart(input),
    publishPaths: [],
    buildEnv: env,
    // With a build command of the owner's the target folder stays where that command expects it.
    cacheEnv: { CARGO_HOME: 'cargo', ...(input.settings.buildCommand ? {} : { CARGO_TARGET_DIR: 'cargo-target' }) },
    runtimeEnv: {},
    ...tools,
    notes: runtimeNotes({ title: 'Rust', tool: cargo }, rustWishes(input.files)),
  }
}

function compileSteps({ settings }: DetectInput, detected: () => string): BuildStep[] {
  return [{ name: 'build', command: settings.buildCommand || detected() }]
}

function compiledStart(input: DetectInput): string {
  const detected = input.settings.buildCommand ? undefined : `./${PROGRAM}`
  return requireStart(
    declaredStart(input) ?? detected,
    'buildCommand decides where the program is, so name it in a Procfile with a line "web: …"',
  )
}

const MOST_NAMED = 10

function goPackage(files: SourceView): string {
  const commands = files.folders('cmd')
  if (files.has('main.go') || commands.length === 0) return '.'
  const [only] = commands
  if (commands.length === 1) return `./cmd/${only}`
  throw new AppError(
    'bad_request',
    `There are several programs below cmd/ (${commands.slice(0, MOST_NAMED).join(', ')}${commands.length > MOST_NAMED ? ', …' : ''}): say which with buildCommand, such as go build -o app ./cmd/${only}`,
  )
}

function rustBinary(files: SourceView): string {
  const manifest = parseManifest(files.read('Cargo.toml') ?? '')
  const bins = arrayOf(manifest.bin).map((bin) => bin.name)
  const name = field(manifest.package, 'default-run') ?? (bins.length === 1 ? bins[0] : field(manifest.package, 'name'))
  if (typeof name === 'string' && name !== '') return name
  throw new AppError(
    'bad_request',
    'Cargo.toml names no program of its own (it may be a workspace): set buildCommand and startCommand, or rootDir to the crate',
  )
}

function parseManifest(text: string): Record<string, unknown> {
  try {
    return { ...Bun.TOML.parse(text) }
  } catch (cause) {
    throw new AppError('bad_request', 'Cargo.toml is not valid TOML: correct it and deploy again', { cause })
  }
}

const arrayOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value : [])

const field = (value: unknown, key: string): unknown => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined)
