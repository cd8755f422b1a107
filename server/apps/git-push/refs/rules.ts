import type { RefOutcome } from '../../context.ts'
import { NO_OBJECT, type RefUpdate } from '../protocol/commands.ts'

const BRANCHES = 'refs/heads/'
const TAGS = 'refs/tags/'
const MAX_REF_BYTES = 255
/** The branch of a service that names none is the first of these that is pushed. */
const USUAL_BRANCHES: readonly string[] = ['main', 'master']

/** Commits of pushes stand below this while it is not known whether their refs will point to them. Clients are never shown these refs. */
export const PENDING = 'refs/cpd/pushes/'

export const isPending = (ref: string): boolean => ref.startsWith(PENDING)

export const branchRef = (branch: string): string => BRANCHES + branch

const branchOf = (ref: string): string | undefined => (ref.startsWith(BRANCHES) ? ref.slice(BRANCHES.length) : undefined)

/** Whether git takes this as the name of a branch or tag (git-check-ref-format(1)); the rest of the refs is not for clients. */
export function isPushable(ref: string): boolean {
  const prefix = [BRANCHES, TAGS].find((one) => ref.startsWith(one))
  const name = prefix === undefined ? '' : ref.slice(prefix.length)
  if (name === '@' || name.startsWith('-') || Buffer.byteLength(ref) > MAX_REF_BYTES) return false
  if (/[\p{Cc} ~^:?*[\\\p{Bidi_Control}]|\.\.|@\{|\/\/|\uFFFD/u.test(name)) return false
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock') && !part.endsWith('.'))
}

/** The branch that deploys: the service's own, else the one that has before, else the one of the usual ones that is pushed now. */
export function deployBranchOf({
  configured,
  kept,
  updates,
}: {
  configured: string | null
  kept: string | null
  updates: readonly RefUpdate[]
}): string | undefined {
  if (configured !== null) return configured
  if (kept !== null) return kept
  return USUAL_BRANCHES.find((branch) => updates.some(({ ref, to }) => ref === branchRef(branch) && to !== NO_OBJECT))
}

const MOVED = 'fetch first: it has moved since you fetched'

/** Why each ref that is refused at once is; refs that are absent go on. */
export function refusalsOf(
  updates: readonly RefUpdate[],
  { refs, branch }: { refs: ReadonlyMap<string, string>; branch: string | undefined },
): Map<string, string> {
  const refusals = new Map<string, string>()
  const seen = new Set<string>()
  for (const { ref, from, to } of updates) {
    if (!isPushable(ref)) refusals.set(ref, 'this is no name of a branch or tag that is taken here')
    else if (seen.has(ref)) refusals.set(ref, 'it is named twice in this push')
    else if (to === NO_OBJECT && ref === (branch && branchRef(branch))) refusals.set(ref, 'the branch that deploys is not deleted')
    else if ((refs.get(ref) ?? NO_OBJECT) !== from) refusals.set(ref, MOVED)
    seen.add(ref)
  }
  return refusals
}

export function planRefs(updates: readonly RefUpdate[], refs: ReadonlyMap<string, string>): { due: RefUpdate[]; refused: RefOutcome[] } {
  const open = updates.filter(({ ref, to }) => (refs.get(ref) ?? NO_OBJECT) !== to)
  const isMoved = ({ ref, from }: RefUpdate) => (refs.get(ref) ?? NO_OBJECT) !== from
  return {
    due: open.filter((update) => !isMoved(update)),
    refused: open.filter(isMoved).map(({ ref }) => ({ ref, refusal: MOVED })),
  }
}

export function remarksOn(updates: readonly RefUpdate[], branch: string | undefined): string[] {
  const others = updates.flatMap(({ ref, to }) => (to === NO_OBJECT ? [] : (branchOf(ref) ?? []))).filter((name) => name !== branch)
  if (others.length === 0) return []
  const which = branch === undefined ? 'Nothing deploys before main or master is pushed' : `Only ${branch} deploys`
  return [`${which}: ${others.join(', ')} ${others.length === 1 ? 'is' : 'are'} kept.`]
}
