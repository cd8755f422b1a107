import type { Database } from 'bun:sqlite'
import type { SourceHostName } from '../../../../shared/source-host.ts'
import { tableOf } from '../../../platform/db/table.ts'

/** An account that a workspace is connected to. Times are milliseconds since 1970. */
export interface StoredInstallation {
  id: string
  workspaceId: string
  provider: SourceHostName
  url: string
  /** Empty where no app is installed. */
  appId: string
  externalId: string
  account: string
  secretsSealed: string | null
  problem: string | null
  createdAt: number
  updatedAt: number
}

const installations = tableOf<StoredInstallation>('source_host_installations', {
  id: 'id',
  workspaceId: 'workspace_id',
  provider: 'provider',
  url: 'url',
  appId: 'app_id',
  externalId: 'external_id',
  account: 'account',
  secretsSealed: 'secrets_sealed',
  problem: 'problem',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
})

/** Adds an installation. */
export const insertInstallation = (db: Database, installation: StoredInstallation): void => void installations.insert(db, installation)

/** Installations of a workspace, oldest first: at all hosts, or at one. */
export const installationsOf = (db: Database, workspaceId: string, provider?: SourceHostName): StoredInstallation[] =>
  installations.all(db, 'WHERE workspace_id = $workspaceId AND ($provider IS NULL OR provider = $provider) ORDER BY id', {
    workspaceId,
    provider: provider ?? null,
  })

/** All installations at a host that have webhooks of single repositories. */
export const personalInstallations = (db: Database): StoredInstallation[] => installations.all(db, "WHERE app_id = '' ORDER BY id")

/** Workspaces that are connected to anything, by id. */
export const connectedWorkspaces = (db: Database): string[] =>
  db
    .query<{ id: string }, []>('SELECT DISTINCT workspace_id AS id FROM source_host_installations')
    .all()
    .map(({ id }) => id)

/** One by id, whoever has it; undefined where there is none. */
export const installationById = (db: Database, id: string): StoredInstallation | undefined =>
  installations.get(db, 'WHERE id = $id', { id })

/** The installation of an app by the host's own id; undefined where no workspace has it. */
export const installationOfApp = (db: Database, appId: string, externalId: string): StoredInstallation | undefined =>
  installations.get(db, "WHERE app_id = $appId AND app_id <> '' AND external_id = $externalId", { appId, externalId })

/** Changes what is named. */
export const changeInstallation = (db: Database, id: string, change: Partial<StoredInstallation>): void =>
  void installations.update(db, { id }, change)

/** Removes it with what is known of its webhooks. Returns whether it was there. */
export const deleteInstallation = (db: Database, id: string): boolean => installations.remove(db, { id }) > 0
