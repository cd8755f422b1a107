/**
 * Tells people what fails and that it is over. Events are taken up in their order, wait a while for others, become messages, and are sent.
 * Each step is one transaction: a kill in between repeats at most the sending of the message that was under way.
 */
import { setImmediate } from 'node:timers/promises'
import { describeError } from '../../platform/server-log.ts'
import { createDriver } from '../../platform/work/driver.ts'
import type { AppContext } from '../context.ts'
import { beginReading } from '../events/readers.ts'
import { READER, takeUpEvents, tellOver } from './feed.ts'
import { itemsOf, workspacesToTell } from './item-store.ts'
import { dropMessage, messagesDue, nextMessageAt, postponeMessage, type StoredMessage } from './message-store.ts'
import { makeMessages } from './messages.ts'
import { messageDueAt, retryAt } from './plan.ts'
import { nextOverAt } from './problem-store.ts'
import { maySee, recipientsOf } from './recipients.ts'
import { type SendContext, sendMessage } from './send.ts'

type NotificationContext = SendContext & Parameters<typeof makeMessages>[0] & Pick<AppContext, 'after'>

export interface NotificationWork {
  poke(): void
  pokeAll(): void
  settled(): Promise<void>
}

const FEED = 'feed'

export function createNotificationWork(context: NotificationContext): NotificationWork {
  const { db, log, now, after, stopping } = context
  const driver = createDriver({
    run: (key) => (key === FEED ? takeUp() : tend(key)),
    onError: (key, error) => log.error('notifications not sent', { workspaceId: key, ...describeError(error) }),
    ...{ now, after, signal: stopping },
  })

  async function takeUp(): Promise<undefined> {
    for (let touched = takeUpEvents(context); touched !== undefined && !stopping.aborted; touched = takeUpEvents(context)) {
      for (const workspaceId of touched) driver.poke(workspaceId)
      await setImmediate()
    }
  }

  /** Returns when there is something to be done for the workspace again (ms since 1970). */
  async function tend(workspaceId: string): Promise<number | undefined> {
    tellOver(context, workspaceId)
    if ((dueAt(workspaceId) ?? Number.POSITIVE_INFINITY) <= now()) await makeMessages(context, workspaceId)
    for (const message of messagesDue(db, workspaceId, now())) await carryOut(message)
    const next = [dueAt(workspaceId), nextMessageAt(db, workspaceId), nextOverAt(db, workspaceId)].filter((at) => at !== undefined)
    return next.length === 0 ? undefined : Math.min(...next)
  }

  const dueAt = (workspaceId: string): number | undefined => messageDueAt(itemsOf(db, workspaceId).map(({ createdAt }) => createdAt))

  async function carryOut(message: StoredMessage): Promise<void> {
    const { id, workspaceId, channel } = message
    if (isUnwanted(message)) return dropMessage(db, id)
    const problem = await sendMessage(context, message)
    if (problem === undefined) return dropMessage(db, id)
    const attempts = message.attempts + 1
    const nextAttemptAt = retryAt(attempts, now())
    log.error('notification not taken', { workspaceId, channel, attempts, reason: problem })
    if (nextAttemptAt === undefined) dropMessage(db, id)
    else postponeMessage(db, id, { attempts, nextAttemptAt })
  }

  /** Between attempts somebody may have left, have said that they want no more, or have been confined to what this is not about. */
  function isUnwanted({ workspaceId, channel, userId, about }: StoredMessage): boolean {
    if (channel !== 'email') return false
    const recipient = recipientsOf(db, workspaceId).find((one) => one.userId === userId)
    return recipient === undefined || !about.every((id) => maySee(db, recipient, id))
  }

  return {
    poke: () => driver.poke(FEED),
    pokeAll() {
      beginReading(db, READER)
      driver.poke(FEED)
      for (const workspaceId of workspacesToTell(db)) driver.poke(workspaceId)
    },
    settled: () => driver.settled(),
  }
}
