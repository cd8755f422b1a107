import { AppError } from '../../../shared/error.ts'
import { traitsOf } from '../../../shared/service-type.ts'
import { findFramework, isFitStart } from './find-framework.ts'
import { packageOf } from './javascript.ts'
import { findEntry } from './javascript-runtime.ts'
import type { DetectInput } from './plan.ts'
import { hasPython } from './python.ts'
import { declaredStart } from './start-command.ts'
import { describeForeign } from './unsupported.ts'

/**
 * Told before any toolchain is looked for: a package.json for the front end alone, as Rails and Laravel have one, makes no app of Node.js.
 * @throws AppError `bad_request` naming what the source is and what has to be installed for it, where nobody has said how it is started.
 */
export function refuseForeign(input: DetectInput): void {
  const { files, settings } = input
  if (!traitsOf(settings.type).runsProgram || settings.runtime !== undefined || declaredStart(input) !== undefined) return
  const reason = describeForeign(files)
  if (reason !== undefined && !isOfKnownStack(input)) throw new AppError('bad_request', reason)
}

const KNOWN = ['go.mod', 'Cargo.toml']
const DENO = ['deno.json', 'deno.jsonc']

function isOfKnownStack({ files, settings, workspace }: DetectInput): boolean {
  const pkg = packageOf(files)
  const entry = findEntry(files, pkg.main)
  if (!files.has('package.json')) {
    if (hasPython(files) || KNOWN.some((path) => files.has(path))) return true
    // Its main.ts looks like an app for Bun, which would fail at the first call of Deno's own.
    return entry !== undefined && !DENO.some((path) => files.has(path))
  }
  const framework = findFramework({ files, pkg, appDir: workspace?.appDir ?? '', buildCommand: settings.buildCommand })
  const { start } = pkg.scripts
  return (start !== undefined && isFitStart(framework, start)) || entry !== undefined || framework?.result.gives === 'server'
}
