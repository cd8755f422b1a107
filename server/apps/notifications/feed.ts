import type { Database } from 'bun:sqlite'
import type { EventType } from '../../../shared/event.ts'
import { markRead, nextEvents } from '../events/readers.ts'
import type { StoredEvent } from '../events/rows.ts'
import { insertItem } from './item-store.ts'
import { overridesOf } from './overrides-store.ts'
import { type ItemKind, levelOf, reactTo } from './plan.ts'
import { dropProblem, dropProblemsOf, findProblem, type ProblemKey, problemsOver, putProblem } from './problem-store.ts'
import { settingsOf } from './settings-store.ts'
import type { Sign } from './sign.ts'
import { signOf } from './signs.ts'

export const READER = 'notifications'

const EVENTS_PER_STEP = 100

interface Feeding {
  db: Database
  now(): number
}

/** Takes up the next events, and what is to be told of them, in one transaction. Returns the workspaces of these; undefined at the end. */
export function takeUpEvents({ db, now }: Feeding): Set<string> | undefined {
  return db.transaction(() => {
    const found = nextEvents(db, READER, EVENTS_PER_STEP)
    const last = found.at(-1)
    if (last === undefined) return undefined
    const touched = found.filter((event) => takeUp({ db, now }, event)).map(({ workspaceId }) => workspaceId)
    markRead(db, READER, last.seq)
    return new Set(touched)
  })()
}

const endsOnPurpose: ReadonlySet<EventType> = new Set([
  'service_suspended',
  'service_deleted',
  'postgres_suspended',
  'postgres_deleted',
  'key_value_suspended',
  'key_value_deleted',
])

function takeUp(feeding: Feeding, event: StoredEvent): boolean {
  const { workspaceId, serviceId, type } = event
  // What is ended on purpose is not over, and no failure either.
  if (serviceId !== null && endsOnPurpose.has(type)) dropProblemsOf(feeding.db, workspaceId, serviceId)
  const sign = signOf(event)
  if (sign === undefined) return false
  react(feeding, event, sign)
  return true
}

function react({ db, now }: Feeding, event: StoredEvent, sign: Sign): void {
  const { workspaceId, serviceId } = event
  const key: ProblemKey = { workspaceId, serviceId: serviceId ?? '', topic: sign.topic }
  const { toSend } = settingsOf(db, workspaceId)
  const level = serviceId === null ? toSend : levelOf(overridesOf(db, serviceId).notificationsToSend, toSend)
  const { tells, problem } = reactTo(sign, { problem: findProblem(db, key), level, at: now() })
  if (problem === undefined) dropProblem(db, key)
  else putProblem(db, { ...key, serviceName: event.serviceName, ...problem })
  if (tells !== undefined) insertItem(db, itemOf(event, sign, { kind: tells, createdAt: now() }))
}

const itemOf = (event: StoredEvent, sign: Sign, { kind, createdAt }: { kind: ItemKind; createdAt: number }) => ({
  workspaceId: event.workspaceId,
  serviceId: event.serviceId,
  serviceName: event.serviceName,
  kind,
  title: sign.title,
  reason: sign.reason ?? null,
  logInstance: kind === 'failure' ? (sign.logInstance ?? null) : null,
  deployId: sign.deployId ?? null,
  happenedAt: Date.parse(event.timestamp),
  createdAt,
})

export function tellOver({ db, now }: Feeding, workspaceId: string): void {
  db.transaction(() => {
    for (const problem of problemsOver(db, workspaceId, now())) {
      const { serviceId, serviceName, topic, overAt } = problem
      dropProblem(db, problem)
      const item = {
        workspaceId,
        serviceId: serviceId === '' ? null : serviceId,
        serviceName,
        kind: 'over',
        title: topic === 'server' ? 'Instances serve again' : 'Available again',
      } as const
      insertItem(db, { ...item, reason: null, logInstance: null, deployId: null, happenedAt: overAt ?? now(), createdAt: now() })
    }
  })()
}
