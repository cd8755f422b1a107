import type { Runtime } from '../../../shared/service-details.ts'
import { traitsOf } from '../../../shared/service-type.ts'
import type { GoNeed } from '../toolchains/go/provide-go.ts'
import type { NodeNeed } from '../toolchains/node/provide-node.ts'
import type { PythonNeed } from '../toolchains/python/provide-python.ts'
import { findDetector } from './detect.ts'
import { goNeedOf } from './go-wishes.ts'
import { packageOf } from './javascript.ts'
import { asksForBun } from './javascript-runtime.ts'
import { nodeWishes } from './node-wishes.ts'
import type { DetectInput } from './plan.ts'
import { pythonWishes } from './python-wishes.ts'
import { isBuiltSite } from './static.ts'

export function nodeNeed(input: DetectInput): NodeNeed | undefined {
  const pkg = packageOf(input.files)
  if (!isJavascript(input) || asksForBun(input, pkg)) return undefined
  const [wish] = nodeWishes(input, pkg)
  return { ...(wish && { wish }) }
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
