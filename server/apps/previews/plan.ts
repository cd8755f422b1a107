/**
 * What becomes of a request is decided here alone, from what is known of it; webhooks, looks at the host and people only change what is known.
 */
import type { DeployStatus } from '../../../shared/deploy.ts'
import { isDeployRunning } from '../../../shared/deploy.ts'
import { maxPreviews, type PreviewRule, type PreviewStatus, skipPreviewMark } from '../../../shared/preview.ts'
import type { StoredPreview } from './store.ts'

const DAY_MS = 24 * 60 * 60_000

export interface PreviewFacts {
  preview: StoredPreview
  rule: PreviewRule | null
  now: number
}

type Unwanted = 'closed' | 'turned_off' | 'skipped' | 'not_asked_for' | 'deleted' | 'expired'

/** When the preview of a request goes if nobody pushes; undefined for never. */
export const expiryOf = ({ pushedAt }: Pick<StoredPreview, 'pushedAt'>, { expireAfterDays }: PreviewRule): number | undefined =>
  expireAfterDays === 0 ? undefined : pushedAt + expireAfterDays * DAY_MS

/** Why a request is to have no preview; undefined for one that is. */
export function reasonAgainst({ preview, rule, now }: PreviewFacts): Unwanted | undefined {
  if (!preview.isOpen) return 'closed'
  if (rule === null || rule.generation === 'off') return 'turned_off'
  if (skipPreviewMark.test(preview.title)) return 'skipped'
  if (rule.generation === 'manual' && !preview.isAsked && !preview.isLabelled) return 'not_asked_for'
  if (preview.dismissedCommit === preview.headCommit) return 'deleted'
  return (expiryOf(preview, rule) ?? Number.POSITIVE_INFINITY) <= now ? 'expired' : undefined
}

export type PreviewStep = { do: 'nothing' } | { do: 'deploy'; commit: string } | { do: 'remove'; because: Unwanted } | { do: 'forget' }

export function planPreview(facts: PreviewFacts): PreviewStep {
  const { preview } = facts
  const because = reasonAgainst(facts)
  if (because !== undefined && preview.serviceId !== null) return { do: 'remove', because }
  if (because === 'closed' || because === 'turned_off') return isKept(facts) ? { do: 'nothing' } : { do: 'forget' }
  if (because !== undefined || preview.deployedCommit === preview.headCommit) return { do: 'nothing' }
  return isAwaitingApproval(preview) ? { do: 'nothing' } : { do: 'deploy', commit: preview.headCommit }
}

const KEPT_MS = 7 * DAY_MS

const isKept = ({ preview, now }: PreviewFacts): boolean => preview.commentMark !== null && preview.updatedAt + KEPT_MS > now

/** What strangers wrote is neither built nor run before a person has looked at that very commit. */
export const isAwaitingApproval = ({ isFork, approvedCommit, headCommit }: StoredPreview): boolean =>
  isFork && approvedCommit !== headCommit

export function refusalBeyond({ ofService, ofWorkspace }: { ofService: number; ofWorkspace: number }): string | undefined {
  if (ofService >= maxPreviews.ofService)
    return `The service has ${maxPreviews.ofService} previews, the most there can be. Delete one, or close its request.`
  if (ofWorkspace >= maxPreviews.ofWorkspace)
    return `The workspace has ${maxPreviews.ofWorkspace} previews, the most there can be. Delete one, or close its request.`
  return undefined
}

const statusOfUnwanted: Record<Unwanted, PreviewStatus> = {
  closed: 'closed',
  turned_off: 'not_asked_for',
  skipped: 'not_asked_for',
  not_asked_for: 'not_asked_for',
  deleted: 'deleted',
  expired: 'expired',
}

/** How a request stands. `deploy` is the status of the newest deploy of its preview. */
export function statusOf(facts: PreviewFacts, deploy: DeployStatus | undefined): PreviewStatus {
  const { preview } = facts
  const because = reasonAgainst(facts)
  if (because !== undefined) return statusOfUnwanted[because]
  if (isAwaitingApproval(preview)) return 'awaiting_approval'
  if (preview.problem !== null || deploy === undefined || preview.deployedCommit !== preview.headCommit) return 'waiting'
  if (isDeployRunning(deploy)) return 'deploying'
  return deploy === 'live' ? 'live' : 'failed'
}
