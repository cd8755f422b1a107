import type { Runtime } from '../../../shared/service-details.ts'
import { traitsOf } from '../../../shared/service-type.ts'
import type { GoNeed } from '../toolchains/go/provide-go.ts'
import type { ManagerPin } from '../toolchains/node/manager-pin.ts'
import type { NodeNeed } from '../toolchains/node/provide-node.ts'
import type { PythonNeed } from '../toolchains/python/provide-python.ts'
import { findDetector } from './detect.ts'
import { goNeedOf } from './go-wishes.ts'
import { packageOf } from './javascript.ts'
import { asksForBun } from './javascript-runtime.ts'
import { parsePin } from './manager-pin.ts'
import { nodeWishes } from './node-wishes.ts'
import type { PackageJson } from './package-json.ts'
import { pinOf, wantedManager } from './package-manager.ts'
import type { DetectInput } from './plan.ts'
import { pythonWishes } from './python-wishes.ts'
import { isBuiltSite } from './static.ts'

export function nodeNeed(input: DetectInput): NodeNeed | undefined {
  const pkg = packageOf(input.files)
  if (!isJavascript(input) || asksForBun(input, pkg)) return undefined
  const [wish] = nodeWishes(input, pkg)
  const manager = managerNeed(input, pkg)
  return { ...(wish && { wish }), ...(manager && { manager }) }
}

/** Others than npm are fetched by npx, but for those whose hash has to be known before they are run. */
function managerNeed(input: DetectInput, pkg: PackageJson): ManagerPin | undefined {
  const pin = parsePin(pinOf(input.workspace, pkg))
  const isWanted = pin !== undefined && pin.name === wantedManager(input, pkg).name
  return isWanted && (pin.name === 'npm' || pin.hash !== undefined) ? pin : undefined
}

export function pythonNeed(input: DetectInput): PythonNeed | undefined {
  if (!runsOn('python', input)) return undefined
  const [wish] = pythonWishes(input)
  return wish === undefined ? {} : { wish: { source: wish.source, wanted: wish.wanted } }
}

export const goNeed = (input: DetectInput): GoNeed | undefined => (runsOn('go', input) ? goNeedOf(input) : undefined)

const runsOn = (runtime: Runtime, input: DetectInput): boolean =>
  traitsOf(input.settings.type).runsProgram && findDetector(input)?.runtimes.includes(runtime) === true

const isJavascript = (input: DetectInput): boolean =>
  traitsOf(input.settings.type).runsProgram ? runsOn('node', input) : isBuiltSite(input)
