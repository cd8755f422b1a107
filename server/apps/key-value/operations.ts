import { AppError, invalidValue } from '../../../shared/error.ts'
import {
  asTold,
  defaultKeyValuePlan,
  type KeyValueCreate,
  type KeyValuePatch,
  type KeyValuePlan,
  type PersistenceMode,
} from '../../../shared/key-value.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { withinQuotas } from '../../identity/quotas/enforce.ts'
import { requireProtectedRight, type Viewer } from '../../identity/scopes/protection.ts'
import { inOneChange } from '../../platform/db/change.ts'
import type { AppContext } from '../context.ts'
import { allowListOf } from '../datastores/allow-list.ts'
import { passwordPurpose } from '../datastores/credential-store.ts'
import { recordDatastoreEvent } from '../datastores/events.ts'
import { addDatastore, changeDatastore, refuseLargeDatastore, refuseTakenName, stored } from '../datastores/operations.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { sizeProblem } from '../disks/rules.ts'
import { recordEvent } from '../events/store.ts'
import { ADMIN, giveFirstPassword, newPassword, rotatePassword } from './passwords.ts'
import { planOf } from './plan.ts'
import { currentProgram } from './program.ts'
import { cutsOff, type StoreSettings } from './rules.ts'
import { diskOf } from './server/config.ts'
import { insertKeyValue, requireRow, updateKeyValue } from './store.ts'

const defaults = { maxmemoryPolicy: 'allkeys_lru', persistenceMode: 'journal_snapshot' } as const

/** @throws AppError as `addStore`. */
export function createStore(context: AppContext, actor: Actor, body: KeyValueCreate): StoredDatastore {
  const { name, environmentId, plan = defaultKeyValuePlan } = body
  return addStore(context, actor, {
    ...{ name, environmentId, plan },
    ipAllowList: allowListOf(body.ipAllowList),
    maxmemoryPolicy: asTold(body.maxmemoryPolicy ?? defaults.maxmemoryPolicy),
    persistenceMode: asTold(body.persistenceMode ?? defaults.persistenceMode),
  })
}

export interface WantedStore extends StoreSettings {
  name: string
  environmentId: string | null | undefined
  /** Its server begins with a snapshot that is put on its volume before. */
  isRecovered?: boolean
}

/** @throws AppError not_configured without a program, conflict for a taken name or where a quota ends, validation_failed without room. */
export function addStore(context: AppContext, actor: Actor, wanted: WantedStore): StoredDatastore {
  const { name, plan, environmentId, ipAllowList, maxmemoryPolicy, persistenceMode, isRecovered = false } = wanted
  const { major: version } = currentProgram(context)
  refuseLargeDatastore(context, 'key_value', plan)
  refuseBadSize(context, plan, 0)
  return inOneChange(context.db, () =>
    withinQuotas(context, actor.workspaceId, () => {
      const datastore = addDatastore(context, actor, {
        ...{ kind: 'key_value', name, plan, version, sizeGb: diskOf(plan), ipAllowList, environmentId },
        ...(isRecovered && { phase: 'recovering' }),
      })
      addKeyValueRow(context, datastore.id, { maxmemoryPolicy, persistenceMode, laid: isRecovered ? 'snapshot' : persistenceMode })
      context.work.poke('datastore', datastore.id)
      return datastore
    }),
  )
}

/** What is of a store alone, when all else is written. `laid` is how a volume that is not empty is to be read. */
function addKeyValueRow(
  { db, sealer, now }: Pick<AppContext, 'db' | 'sealer' | 'now'>,
  id: string,
  { maxmemoryPolicy, persistenceMode, laid }: Pick<StoreSettings, 'maxmemoryPolicy' | 'persistenceMode'> & { laid: PersistenceMode },
): void {
  const adminPasswordSealed = sealer.seal(newPassword(), passwordPurpose(id, ADMIN))
  insertKeyValue(db, { id, maxmemoryPolicy, persistenceMode, persistenceSetAt: now(), laid, adminPasswordSealed })
  giveFirstPassword({ db, sealer, now }, id)
}

/** Another plan is a restart; all else is in force at once. @throws AppError as `createStore`, forbidden in a protected environment. */
export function changeStore(
  context: AppContext,
  viewer: Viewer,
  { datastore, patch }: { datastore: StoredDatastore; patch: KeyValuePatch },
): StoredDatastore {
  const { db, now } = context
  const own = requireRow(db, datastore.id)
  const before: StoreSettings = { ...own, plan: planOf(datastore), ipAllowList: datastore.ipAllowList }
  const after = settingsAfter(before, patch)
  if (cutsOff(before, after)) requireProtectedRight(db, viewer, datastore.environmentId)
  const { name = datastore.name } = patch
  refuseTakenName(context, datastore.workspaceId, { name, exceptId: datastore.id })
  const isReplanned = after.plan !== before.plan
  if (isReplanned) refuseLargeDatastore(context, 'key_value', after.plan)
  const grown = isReplanned ? growthFor(context, datastore, after.plan) : {}
  if (after.maxmemoryPolicy !== own.maxmemoryPolicy) updateKeyValue(db, own.id, { maxmemoryPolicy: after.maxmemoryPolicy })
  if (after.persistenceMode !== own.persistenceMode)
    updateKeyValue(db, own.id, { persistenceMode: after.persistenceMode, persistenceSetAt: now() })
  const change = { name, plan: after.plan, ipAllowList: after.ipAllowList, ...grown }
  withinQuotas(context, datastore.workspaceId, () => changeDatastore(context, datastore, { change, isFreshStart: isReplanned }))
  if (isReplanned) {
    recordDatastoreEvent(context, datastore, 'planChanged', { from: before.plan, to: after.plan })
    recordDatastoreEvent(context, datastore, 'configRestart', { plan: after.plan })
  }
  return stored(context, datastore.id)
}

function settingsAfter(before: StoreSettings, { plan, maxmemoryPolicy, persistenceMode, ipAllowList }: KeyValuePatch): StoreSettings {
  return {
    plan: plan ?? before.plan,
    maxmemoryPolicy: maxmemoryPolicy === undefined ? before.maxmemoryPolicy : asTold(maxmemoryPolicy),
    persistenceMode: persistenceMode === undefined ? before.persistenceMode : asTold(persistenceMode),
    ipAllowList: ipAllowList === undefined ? before.ipAllowList : allowListOf(ipAllowList),
  }
}

function growthFor(context: AppContext, { sizeGb, growToGb }: StoredDatastore, plan: KeyValuePlan): { growToGb?: number } {
  const has = growToGb ?? sizeGb
  if (diskOf(plan) <= has) return {}
  if (context.engine.volumes.capabilities.grow === 'never')
    throw new AppError(
      'conflict',
      `The disks of this server keep their size, and the plan ${plan} needs a larger one. Create another store with it.`,
    )
  refuseBadSize(context, plan, has)
  return { growToGb: diskOf(plan) }
}

function refuseBadSize({ engine }: AppContext, plan: KeyValuePlan, given: number): void {
  const problem = sizeProblem(diskOf(plan), { given, freeBytes: engine.volumes.roomBytes() })
  if (problem !== undefined) throw invalidValue('/plan', `The plan ${plan} comes with a disk of ${diskOf(plan)} GB. ${problem}`)
}

/** Has a new password be handed out, and the one until now be refused after so many hours. */
export function rotate(context: AppContext, { id, name, workspaceId }: StoredDatastore, hours: number | undefined): void {
  rotatePassword(context, id, hours)
  const details = { name, username: id, change: 'rotated' }
  recordEvent(context.db, { owner: { id, workspaceId }, type: 'key_value_credentials_changed', details, now: context.now() })
  context.work.poke('datastore', id)
}
