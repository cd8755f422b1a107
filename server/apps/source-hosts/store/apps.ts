import type { Database } from 'bun:sqlite'
import { tableOf } from '../../../platform/db/table.ts'

export interface StoredApp {
  workspaceId: string
  appId: string
  clientId: string
  secretsSealed: string
  createdAt: number
}

const apps = tableOf<StoredApp>('source_host_apps', {
  workspaceId: 'workspace_id',
  appId: 'app_id',
  clientId: 'client_id',
  secretsSealed: 'secrets_sealed',
  createdAt: 'created_at',
})

/** The app of a workspace; undefined where it has made none. */
export const appOf = (db: Database, workspaceId: string): StoredApp | undefined =>
  apps.get(db, 'WHERE workspace_id = $workspaceId', { workspaceId })

/** An app by the id that GitHub gave it. */
export const appById = (db: Database, appId: string): StoredApp | undefined => apps.get(db, 'WHERE app_id = $appId', { appId })

/** Keeps the app of a workspace, in place of the one that it has. */
export function keepApp(db: Database, app: StoredApp): void {
  apps.remove(db, { workspaceId: app.workspaceId })
  apps.insert(db, app)
}
