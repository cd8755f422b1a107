import { traitsOf } from '../../../shared/service-type.ts'
import type { NodeNeed } from '../toolchains/node/provide-node.ts'
import { findDetector } from './detect.ts'
import { packageOf } from './javascript.ts'
import { asksForBun } from './javascript-runtime.ts'
import { nodeWishes } from './node-wishes.ts'
import type { DetectInput } from './plan.ts'
import { isBuiltSite } from './static.ts'

export function nodeNeed(input: DetectInput): NodeNeed | undefined {
  const pkg = packageOf(input.files)
  if (!isJavascript(input) || asksForBun(input, pkg)) return undefined
  const [wish] = nodeWishes(input, pkg)
  return { ...(wish && { wish }) }
}

const isJavascript = (input: DetectInput): boolean =>
  traitsOf(input.settings.type).runsProgram ? findDetector(input)?.runtimes.includes('node') === true : isBuiltSite(input)
