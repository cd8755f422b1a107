import type { DeniedRequest } from '../../http/handlers/audit.ts'
import { networkOf } from '../../platform/network/network-of.ts'
import { describeError } from '../../platform/server-log.ts'
import type { NewEntry } from '../audit-chain/chain.ts'
import { masked } from '../audit-chain/mask.ts'
import type { IdentityContext } from '../context.ts'
import { listWorkspacesOf } from '../memberships/store.ts'
import { actorOf } from './actor.ts'
import { createBudgets, type DenialBudget, hasRoom } from './denial-budgets.ts'

/** Whoever is denied in masses must not fill the log, the disk or the memory: repeats are counted, and told in one entry a minute. */
export interface Denials {
  report(denied: DeniedRequest): void
  flush(): void
}

const WINDOW_MS = 60_000
const MAX_COUNTED = 2000
const MAX_OPERATIONS = 20
const MAX_PATH_CHARS = 200

interface Counted {
  first: DeniedRequest
  repeats: number
  operations: Set<string>
}

type DenialsContext = Pick<IdentityContext, 'db' | 'audit' | 'log' | 'now' | 'stopping'>

export function createDenials({ db, audit, log, now, stopping }: DenialsContext): Denials {
  const counted = new Map<string, Counted>()
  let timer: Timer | undefined

  const write = (entry: NewEntry, workspaceIds: () => readonly string[]): void => {
    try {
      audit.append(workspaceIds(), entry)
    } catch (error) {
      log.error('denied attempt not written down', { requestId: entry.requestId, ...describeError(error) })
    }
  }
  const budgets = createBudgets(now, (budget) => write(suppressedEntry(budget), () => chainsOf(db, budget.first)))
  const flush = (): void => {
    clearInterval(timer)
    timer = undefined
    for (const one of counted.values()) {
      if (one.repeats > 0 && hasRoom(budgets.of(one.first))) write(repeatsEntry(one), () => chainsOf(db, one.first))
    }
    counted.clear()
    budgets.countAnew()
  }
  stopping.addEventListener('abort', flush)

  return {
    flush,
    report(denied) {
      const key = keyOf(denied)
      const known = counted.get(key)
      if (known !== undefined) {
        known.repeats += 1
        if (known.operations.size < MAX_OPERATIONS) known.operations.add(denied.operationId)
        return
      }
      const budget = budgets.of(denied)
      if (budget.counted >= MAX_COUNTED) {
        budget.suppressed += 1
        return
      }
      budget.counted += 1
      counted.set(key, { first: denied, repeats: 0, operations: new Set([denied.operationId]) })
      timer ??= setTimeout(flush, WINDOW_MS).unref()
      // The entry comes after the answer: how long that takes must not tell whether there is an account, and in how many workspaces.
      if (hasRoom(budget)) setImmediate(() => write(entryOf(denied), () => chainsOf(db, denied)))
    },
  }
}

function keyOf({ actor, address, reason, facts, isAdmitted, operationId }: DeniedRequest): string {
  const target = facts.target ?? facts.actor?.id ?? ''
  return [reason, actor?.id ?? networkOf(address), actor?.workspaceId ?? '', target, isAdmitted ? operationId : ''].join(' ')
}

function chainsOf(db: IdentityContext['db'], { actor, facts }: DeniedRequest): readonly string[] {
  if (facts.workspaceIds !== undefined) return facts.workspaceIds
  if (actor !== undefined) return [actor.workspaceId]
  return facts.actor === undefined ? [] : listWorkspacesOf(db, facts.actor.id).map(({ id }) => id)
}

const EVENT = 'access.denied'

function entryOf({ operationId, method, path, reason, message, actor, address, requestId, facts }: DeniedRequest): NewEntry {
  const target = facts.target ?? facts.actor?.id
  const asked = { operation: operationId, method, path: path.slice(0, MAX_PATH_CHARS), reason, message }
  return {
    event: EVENT,
    status: 'error',
    actor: actorOf(actor),
    ...(target !== undefined && { target }),
    ip: address,
    requestId,
    metadata: masked({ ...asked, ...facts.metadata }) as Record<string, unknown>,
  }
}

function repeatsEntry({ first, repeats, operations }: Counted): NewEntry {
  const { requestId: _, metadata, ...entry } = entryOf(first)
  return { ...entry, metadata: { reason: metadata.reason, repeats, withinSeconds: WINDOW_MS / 1000, operations: [...operations] } }
}

const suppressedEntry = ({ suppressed: attempts, maxEntries: maxEntriesPerHour }: DenialBudget): NewEntry => ({
  event: 'access.denied_suppressed',
  status: 'error',
  actor: { type: 'system' },
  metadata: { attempts, maxEntriesPerHour },
})
