import { linkSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import { requireProtectedRight, type Viewer } from '../../identity/scopes/protection.ts'
import { isWithin } from '../../identity/scopes/scope.ts'
import { newId } from '../../platform/id.ts'
import type { AppContext } from '../context.ts'
import { findService, type StoredService } from '../services/store.ts'
import { insertSource, listSources, type StoredSource, sourceById, sourceFile } from './store.ts'

const ROOTS_ALONE = 0o700

/**
 * The source of this id as one of the service's own. That of another service is taken over: its archive is the same file under a second
 * name, so that neither service's pruning takes it from the other. Belongs in the transaction of the deploy.
 * @throws AppError not_found for a source of a service that the caller does not see; forbidden where that is in a protected environment.
 */
export function ownSource(
  context: AppContext,
  viewer: Viewer,
  { service, sourceId }: { service: StoredService; sourceId: string },
): string {
  const source = sourceById(context.db, sourceId)
  if (source?.serviceId === service.id) return source.id
  const holder = source && findService(context.db, viewer.workspaceId, source.serviceId)
  if (source === undefined || holder === undefined || !isWithin(viewer.scope, holder))
    throw new AppError('not_found', `There is no source ${sourceId} in this workspace.`)
  requireProtectedRight(context.db, viewer, holder.environmentId)
  const taken = listSources(context.db, service.id).find(({ sha256, format }) => sha256 === source.sha256 && format === source.format)
  return (taken ?? takeOver(context, source, service.id)).id
}

/** Files first, then their row: after a kill in between, the next pruning removes what no row names. */
function takeOver({ db, paths, now }: AppContext, source: StoredSource, serviceId: string): StoredSource {
  const own = { ...source, id: newId('source'), serviceId, createdAt: now() }
  const path = sourceFile(paths, own)
  mkdirSync(dirname(path), { recursive: true, mode: ROOTS_ALONE })
  linkSync(sourceFile(paths, source), path)
  insertSource(db, own)
  return own
}
