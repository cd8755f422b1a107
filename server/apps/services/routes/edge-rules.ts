import { createHash } from 'node:crypto'
import type { HeaderRule, PathRule, PathRuleInput, ServiceHeader, ServiceRoute } from '../../../../shared/edge-rule.ts'
import { AppError } from '../../../../shared/error.ts'
import { type IdKind, idAlphabet, idPrefix } from '../../../../shared/id.ts'
import type { AppContext } from '../../context.ts'
import { setReleaseRules } from '../../deploys/release-store.ts'
import { deployById, unfinishedDeploys } from '../../deploys/store.ts'
import { applyDetails, type ServiceSettings } from '../settings.ts'
import { type StoredService, updateService } from '../store.ts'

export interface EdgeRules {
  headers?: HeaderRule[]
  routes?: PathRuleInput[]
}

/**
 * Replaces rules of a service, and with them those of the releases that serve or are about to: rules come with a release, but these
 * are to be in force at once. Belongs in one transaction; the routes have to be published after it.
 * @throws AppError validation_failed for rules that the type of service cannot have, by their place in the list.
 */
export function replaceRules(context: Pick<AppContext, 'db' | 'now'>, service: StoredService, rules: EdgeRules): ServiceSettings {
  const settings = fitting(service, rules)
  updateService(context.db, service.id, { settings }, context.now())
  for (const releaseId of releasesToCome(context, service)) setReleaseRules(context.db, releaseId, settings)
  return settings
}

export const presentHeaders = (serviceId: string, rules: readonly HeaderRule[]): ServiceHeader[] =>
  withIds('headerRule', serviceId, rules).map(({ id, path, name, value }) => ({ id, path, name, value }))

export const presentRoutes = (serviceId: string, rules: readonly PathRule[]): ServiceRoute[] =>
  withIds('pathRule', serviceId, rules).map(({ id, type, source, destination }, priority) => ({ id, type, source, destination, priority }))

function fitting(service: StoredService, rules: EdgeRules): ServiceSettings {
  try {
    return applyDetails(service.type, service.settings, rules)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const details = error.details.map(({ path, message }) => ({ path: path.replace(/^\/serviceDetails\/\w+/, ''), message }))
    throw new AppError(error.code, error.message, { details })
  }
}

/** What is live, what it may be taken back to while it is watched, and what is being deployed. A rollback keeps its own rules. */
function releasesToCome({ db }: Pick<AppContext, 'db'>, service: StoredService): Set<string> {
  const standing = [service.liveDeployId, service.guard?.previous.deployId ?? null]
  const coming = unfinishedDeploys(db, service.id).filter(({ trigger }) => trigger !== 'rollback')
  const deploys = [...standing.map((id) => (id === null ? undefined : deployById(db, id))), ...coming]
  return new Set(deploys.map((deploy) => deploy?.releaseId).filter((id) => id != null))
}

/** The id of a rule follows from its content, so it lasts as long as the rule; equal rules are numbered. */
function withIds<T extends object>(kind: IdKind, serviceId: string, rules: readonly T[]): (T & { id: string })[] {
  const seen = new Map<string, number>()
  return rules.map((rule) => {
    const text = JSON.stringify([serviceId, rule])
    const count = (seen.get(text) ?? 0) + 1
    seen.set(text, count)
    return { ...rule, id: `${idPrefix[kind]}-${lettersOf(`${count} ${text}`)}` }
  })
}

const ID_LETTERS = 20

const lettersOf = (text: string): string =>
  Array.from(createHash('sha256').update(text).digest().subarray(0, ID_LETTERS), (byte) => idAlphabet.charAt(byte & 31)).join('')
