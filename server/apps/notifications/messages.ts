import { findWorkspace } from '../../identity/memberships/store.ts'
import type { AppContext } from '../context.ts'
import { type Composed, composeMessage, type Told } from './compose.ts'
import { lastLinesOf } from './excerpt.ts'
import { dropItems, itemsOf, type StoredItem } from './item-store.ts'
import { insertMessage } from './message-store.ts'
import { maySee, recipientsOf } from './recipients.ts'
import { settingsOf } from './settings-store.ts'

type MessageContext = Parameters<typeof lastLinesOf>[0] & Pick<AppContext, 'now' | 'mailer'>

const MOST_EXCERPTS = 5

/** Makes messages of all that is to be told in a workspace: one for each who is told. Repeatable until the items are gone with it. */
export async function makeMessages(context: MessageContext, workspaceId: string): Promise<void> {
  const items = itemsOf(context.db, workspaceId)
  const last = items.at(-1)
  if (last === undefined) return
  const told = await withExcerpts(context, items)
  const name = findWorkspace(context.db, workspaceId)?.name ?? workspaceId
  context.db.transaction(() => {
    for (const [addressee, seen] of addressees(context, workspaceId, told)) {
      const message: Composed = composeMessage(seen, name)
      const about = [...new Set(seen.map(({ serviceId }) => serviceId))]
      insertMessage(context.db, { workspaceId, ...addressee, ...message, about, nextAttemptAt: context.now() })
    }
    dropItems(context.db, workspaceId, last.id)
  })()
}

async function withExcerpts(context: MessageContext, items: readonly StoredItem[]): Promise<Told[]> {
  let left = MOST_EXCERPTS
  const told: Told[] = []
  for (const item of items) {
    const lines = item.logInstance !== null && left-- > 0 ? await lastLinesOf(context, item) : []
    told.push({ ...item, lines })
  }
  return told
}

type Addressee = { channel: 'email'; userId: string } | { channel: 'slack' | 'discord'; userId: null }

function addressees({ db, mailer }: MessageContext, workspaceId: string, told: readonly Told[]): [Addressee, Told[]][] {
  const settings = settingsOf(db, workspaceId)
  const isMailed = settings.isEmailEnabled && mailer.isConfigured
  const people = isMailed ? recipientsOf(db, workspaceId) : []
  const mails = people.map((recipient): [Addressee, Told[]] => [
    { channel: 'email', userId: recipient.userId },
    told.filter(({ serviceId }) => maySee(db, recipient, serviceId)),
  ])
  const chats: [Addressee, Told[]][] = [
    ...(settings.slackUrlSealed === null ? [] : [[{ channel: 'slack', userId: null }, [...told]] as [Addressee, Told[]]]),
    ...(settings.discordUrlSealed === null ? [] : [[{ channel: 'discord', userId: null }, [...told]] as [Addressee, Told[]]]),
  ]
  return [...mails, ...chats].filter(([, seen]) => seen.length > 0)
}
