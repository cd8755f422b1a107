import type { Database } from 'bun:sqlite'
import type { ProtectedStatus } from '../../../shared/project.ts'
import { flag } from '../../platform/db/codec.ts'
import { tableOf } from '../../platform/db/table.ts'

/** A project. Times here and below are milliseconds since 1970. */
export interface StoredProject {
  id: string
  workspaceId: string
  name: string
  createdAt: number
  updatedAt: number
}

export interface StoredEnvironment {
  id: string
  workspaceId: string
  projectId: string
  name: string
  protectedStatus: ProtectedStatus
  isIsolated: boolean
  createdAt: number
  updatedAt: number
}

export const projects = tableOf<StoredProject>('projects', {
  id: 'id',
  workspaceId: 'workspace_id',
  name: 'name',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
})

export const environments = tableOf<StoredEnvironment>('environments', {
  id: 'id',
  workspaceId: 'workspace_id',
  projectId: 'project_id',
  name: 'name',
  protectedStatus: 'protected_status',
  isIsolated: { column: 'is_isolated', as: flag },
  createdAt: 'created_at',
  updatedAt: 'updated_at',
})

/** A project of this workspace; undefined where it has none of this id. */
export const findProject = (db: Database, workspaceId: string, id: string): StoredProject | undefined =>
  projects.get(db, 'WHERE id = $id AND workspace_id = $workspaceId', { id, workspaceId })

/** The project of this name; names differ in letter case as well. */
export const findProjectByName = (db: Database, workspaceId: string, name: string): StoredProject | undefined =>
  projects.get(db, 'WHERE workspace_id = $workspaceId AND name = $name', { workspaceId, name })

/** How many projects a workspace has. */
export const countProjects = (db: Database, workspaceId: string): number =>
  db.query<{ count: number }, [string]>('SELECT count(*) AS count FROM projects WHERE workspace_id = ?').get(workspaceId)?.count ?? 0

/** Adds a project, without environments. @throws SQLiteError when the name is taken: look first, in the same transaction. */
export const insertProject = (db: Database, project: StoredProject): boolean => projects.insert(db, project)

/** Changes the name of a project. @throws SQLiteError as `insertProject`. */
export function renameProject(db: Database, id: string, { name, updatedAt }: Pick<StoredProject, 'name' | 'updatedAt'>): void {
  projects.update(db, { id }, { name, updatedAt })
}

/** Removes a project with its environments. @throws SQLiteError while something is in one of them. */
export const removeProject = (db: Database, id: string): boolean => projects.remove(db, { id }) > 0

/** An environment of this workspace; undefined where it has none of this id. */
export const findEnvironment = (db: Database, workspaceId: string, id: string): StoredEnvironment | undefined =>
  environments.get(db, 'WHERE id = $id AND workspace_id = $workspaceId', { id, workspaceId })

/** Environments of a project, the oldest first. */
export const environmentsOf = (db: Database, projectId: string): StoredEnvironment[] =>
  environments.all(db, 'WHERE project_id = $projectId ORDER BY id', { projectId })

/** Adds an environment. @throws SQLiteError when its name is taken: look first, in the same transaction. */
export const insertEnvironment = (db: Database, environment: StoredEnvironment): boolean => environments.insert(db, environment)

/** Replaces what can change of an environment. @throws SQLiteError as `insertEnvironment`. */
export function updateEnvironment(db: Database, environment: StoredEnvironment): void {
  const { id, name, protectedStatus, isIsolated, updatedAt } = environment
  environments.update(db, { id }, { name, protectedStatus, isIsolated, updatedAt })
}

/** Removes an environment. @throws SQLiteError while something is in it. */
export const removeEnvironment = (db: Database, id: string): boolean => environments.remove(db, { id }) > 0
