import { newId } from '../../server/platform/id.ts'
import type { TestServer } from './server.ts'

export interface TestEnvironment {
  projectId: string
  environmentId: string
}

/** Adds an environment, in a project of its own unless one is named, straight in the database. */
export function addEnvironment(
  { db }: Pick<TestServer, 'db'>,
  { workspaceId, projectId, isProtected = false }: { workspaceId: string; projectId?: string; isProtected?: boolean },
): TestEnvironment {
  const now = Date.now()
  const environmentId = newId('environment', now)
  const project = projectId ?? newId('project', now)
  if (projectId === undefined)
    db.query('INSERT INTO projects (id, workspace_id, name, created_at, updated_at) VALUES (?, ?, ?, ?, ?)').run(
      project,
      workspaceId,
      `project ${project}`,
      now,
      now,
    )
  db.query(
    `INSERT INTO environments (id, workspace_id, project_id, name, protected_status, created_at, updated_at)
     VALUES ($environmentId, $workspaceId, $project, $name, $status, $now, $now)`,
  ).run({
    environmentId,
    workspaceId,
    project,
    name: `environment ${environmentId}`,
    status: isProtected ? 'protected' : 'unprotected',
    now,
  })
  return { projectId: project, environmentId }
}

/** Puts a service, a group of variables or a datastore into an environment, or takes it out of all with null. */
export function putInto({ db }: Pick<TestServer, 'db'>, id: string, environmentId: string | null): void {
  for (const table of ['services', 'env_groups', 'datastores'])
    db.query(`UPDATE ${table} SET environment_id = ? WHERE id = ?`).run(environmentId, id)
}
