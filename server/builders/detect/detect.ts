import { AppError } from '../../../shared/error.ts'
import type { Runtime } from '../../../shared/service-details.ts'
import { traitsOf } from '../../../shared/service-type.ts'
import { detectGo, detectRust } from './compiled.ts'
import { refuseForeign } from './foreign.ts'
import { detectJavascript, hasJavascript } from './javascript.ts'
import { type BuildPlan, type DetectInput, planWithoutToolchain } from './plan.ts'
import { detectPython, hasPython } from './python.ts'
import type { SourceView } from './source-view.ts'
import { asSite, declaredStart } from './start-command.ts'
import { detectStatic } from './static.ts'
import { describeUnsupported, noteUnsupported } from './unsupported.ts'

interface Detector {
  runtimes: readonly Runtime[]
  matches: (files: SourceView) => boolean
  plan: (input: DetectInput) => BuildPlan
}

/** How each runtime is recognised and planned, in the order in which a source is asked. package.json comes first: many Go and
 * Python projects hold one for their front end, but those name their runtime or a Procfile. */
const detectors: readonly Detector[] = [
  { runtimes: ['node', 'bun'], matches: (files) => files.has('package.json'), plan: detectJavascript },
  { runtimes: ['python'], matches: hasPython, plan: detectPython },
  { runtimes: ['go'], matches: (files) => files.has('go.mod'), plan: detectGo },
  { runtimes: ['rust'], matches: (files) => files.has('Cargo.toml'), plan: detectRust },
  { runtimes: ['node', 'bun'], matches: hasJavascript, plan: detectJavascript },
]

/** Decides by the service's settings, then Procfile, then files. @throws AppError `bad_request` saying what is missing, in the source or on this server. */
export function detectBuild(input: DetectInput): BuildPlan {
  refuseForeign(input)
  const { files, settings } = input
  if (!traitsOf(settings.type).runsProgram) return detectStatic(input)
  const start = declaredStart(input)
  const detector = findDetector(input)
  if (detector !== undefined) return detector.plan(input)
  if (start !== undefined) {
    return { ...planWithoutToolchain('shell', settings.buildCommand), startCommand: start, notes: noteUnsupported(files) }
  }
  throw new AppError('bad_request', notRecognised(files))
}

export const findDetector = ({ files, settings: { runtime } }: DetectInput): Detector | undefined =>
  detectors.find(({ runtimes, matches }) => (runtime === undefined ? matches(files) : runtimes.includes(runtime)))

function notRecognised(files: SourceView): string {
  if (files.has('index.html')) return asSite('This source is a plain website')
  return (
    describeUnsupported(files) ??
    'Nothing was found that says how to start this source: add a package.json, requirements.txt, go.mod, Cargo.toml or Procfile, set rootDir to the folder that holds it, or set startCommand'
  )
}
