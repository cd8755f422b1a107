import type { StoredItem } from './item-store.ts'
import type { ItemKind } from './plan.ts'

export interface Told extends Pick<StoredItem, 'kind' | 'serviceId' | 'serviceName' | 'title' | 'reason' | 'happenedAt'> {
  lines: readonly string[]
}

export interface Composed {
  subject: string
  text: string
}

const MOST_TOLD = 20
const MOST_REASON_CHARS = 1000

const words: Record<ItemKind, string> = { failure: 'FAILED', over: 'OVER', news: 'LIVE' }

export function composeMessage(all: readonly Told[], workspaceName: string): Composed {
  const told = all.slice(0, MOST_TOLD).map(paragraphOf)
  const more = all.length - told.length
  const rest = more > 0 ? [`… and ${more} more: cpctl events shows them.`] : []
  return { subject: subjectOf(all, workspaceName), text: [...told, ...rest].join('\n\n') }
}

function subjectOf(all: readonly Told[], workspaceName: string): string {
  const [only, ...others] = all
  if (only !== undefined && others.length === 0) return `${nameOf(only)}: ${only.title}`
  const count = (kind: ItemKind, word: string) => {
    const found = all.filter((one) => one.kind === kind).length
    return found === 0 ? [] : [`${found} ${word}`]
  }
  return `${workspaceName}: ${[...count('failure', 'failed'), ...count('over', 'over'), ...count('news', 'live')].join(', ')}`
}

function paragraphOf(told: Told): string {
  const { kind, title, reason, happenedAt, lines } = told
  const head = `[${words[kind]}] ${nameOf(told)}: ${title} (${new Date(happenedAt).toISOString().slice(0, 19).replace('T', ' ')} UTC)`
  const shown = lines.length === 0 ? [] : ['Its last lines:', ...lines.map((line) => `    ${line}`)]
  return [head, ...(reason === null ? [] : [reason.slice(0, MOST_REASON_CHARS)]), ...shown].join('\n')
}

const nameOf = ({ serviceName, serviceId }: Told): string => serviceName ?? serviceId ?? 'Workspace'
