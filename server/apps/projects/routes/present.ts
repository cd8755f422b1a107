import type { Database } from 'bun:sqlite'
import type { Environment, Project } from '../../../../shared/project.ts'
import { findWorkspace, presentOwner } from '../../../identity/memberships/store.ts'
import type { Viewer } from '../../../identity/scopes/protection.ts'
import { isWithin } from '../../../identity/scopes/scope.ts'
import { contentsOf, type ResourceKind, resourceKinds } from '../contents.ts'
import { environmentsOf, type StoredEnvironment, type StoredProject } from '../store.ts'
import { seenPlaces } from '../visible.ts'

const iso = (ms: number): string => new Date(ms).toISOString()

export function presentProject(db: Database, viewer: Viewer, project: StoredProject): Project {
  const seen = seenPlaces(db, viewer)?.environmentIds
  const ids = environmentsOf(db, project.id).map(({ id }) => id)
  const { name = '', email = '' } = findWorkspace(db, project.workspaceId) ?? {}
  return {
    id: project.id,
    name: project.name,
    owner: presentOwner({ id: project.workspaceId, name, email, createdAt: 0 }),
    environmentIds: seen === undefined ? ids : ids.filter((id) => seen.has(id)),
    createdAt: iso(project.createdAt),
    updatedAt: iso(project.updatedAt),
  }
}

export function presentEnvironment(db: Database, { scope }: Viewer, environment: StoredEnvironment): Environment {
  const idsOf = (kind: ResourceKind): string[] =>
    contentsOf(db, environment.id, kind)
      .filter((resource) => isWithin(scope, resource))
      .map(({ id }) => id)
  return {
    id: environment.id,
    name: environment.name,
    projectId: environment.projectId,
    databasesIds: idsOf(resourceKinds.databasesIds),
    redisIds: idsOf(resourceKinds.redisIds),
    serviceIds: idsOf(resourceKinds.serviceIds),
    envGroupIds: idsOf(resourceKinds.envGroupIds),
    protectedStatus: environment.protectedStatus,
    networkIsolationEnabled: environment.isIsolated,
    createdAt: iso(environment.createdAt),
    updatedAt: iso(environment.updatedAt),
  }
}
