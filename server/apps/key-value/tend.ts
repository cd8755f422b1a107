import type { Login, Send, ServerAddress } from '../../platform/key-value/port.ts'
import type { AppContext } from '../context.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { adminPassword, nextChangeOf, passwordsOf } from './passwords.ts'
import { planOf } from './plan.ts'
import { ADMIN_USER, tenantUser } from './server/acl.ts'
import { liveSettings } from './server/config.ts'
import { readInfo, type ServerInfo } from './server/info.ts'
import { type PersistenceStep, planPersistence } from './server/persistence.ts'
import { requireRow, type StoredKeyValue, updateKeyValue } from './store.ts'

type TendContext = Pick<AppContext, 'db' | 'sealer' | 'now' | 'stopping' | 'keyValueServers'>

const LOOK_AGAIN_MS = 500
const MAX_STEPS = 5
const WORTH_SHORTENING = 1.25

export const adminLogin = (context: Pick<TendContext, 'sealer'>, own: StoredKeyValue): Login => ({
  user: ADMIN_USER,
  password: adminPassword(context, own),
})

/**
 * Has a running server be as its rows say: settings, passwords, and what it keeps on its volume. Repeatable; what cannot be now is tried
 * again later. Returns when to come back though nothing happens (ms since 1970).
 */
export async function tendStore(context: TendContext, datastore: StoredDatastore, at: ServerAddress): Promise<number | undefined> {
  const own = requireRow(context.db, datastore.id)
  return await context.keyValueServers.use(
    at,
    adminLogin(context, own),
    async (send) => {
      await applySettings(context, send, { datastore, own })
      const lookAgainAt = await applyPersistence(context, send, datastore.id)
      return earliest(lookAgainAt, nextChangeOf(own, context.now()))
    },
    context.stopping,
  )
}

/** Has the journal written anew, where it holds much that is no more: that gives room back. */
export async function shortenJournal(context: TendContext, datastore: StoredDatastore, at: ServerAddress): Promise<void> {
  const login = adminLogin(context, requireRow(context.db, datastore.id))
  await context.keyValueServers.use(
    at,
    login,
    async (send) => {
      const { isJournaling, isWriting, journalBytes, journalBaseBytes } = await infoOf(send)
      if (isJournaling && !isWriting && journalBytes > journalBaseBytes * WORTH_SHORTENING) await send(['BGREWRITEAOF'])
    },
    context.stopping,
  )
}

async function applySettings(
  context: TendContext,
  send: Send,
  { datastore, own }: { datastore: StoredDatastore; own: StoredKeyValue },
): Promise<void> {
  await send(['CONFIG', 'SET', ...Object.entries(liveSettings({ ...own, plan: planOf(datastore) })).flat()])
  await send(['ACL', 'SETUSER', ...tenantUser(own.id, passwordsOf(context, own))])
  if (!own.isCutting) return
  await send(['CLIENT', 'KILL', 'USER', own.id])
  updateKeyValue(context.db, own.id, { isCutting: false })
}

async function applyPersistence({ db, now }: TendContext, send: Send, id: string): Promise<number | undefined> {
  for (let count = 0; count < MAX_STEPS; count++) {
    const step = planFor(requireRow(db, id), await infoOf(send))
    if (step === undefined) return undefined
    if (step.kind === 'wait') break
    if (step.kind === 'command') await send(step.command)
    else updateKeyValue(db, id, { laid: step.mode })
  }
  return now() + LOOK_AGAIN_MS
}

const planFor = ({ persistenceMode, persistenceSetAt, laid }: StoredKeyValue, server: ServerInfo): PersistenceStep | undefined =>
  planPersistence({ wanted: persistenceMode, laid, since: persistenceSetAt, server })

export const infoOf = async (send: Send): Promise<ServerInfo> => readInfo(String(await send(['INFO'])))

const earliest = (...times: (number | undefined)[]): number | undefined => {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
