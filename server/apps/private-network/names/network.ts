import type { Database } from 'bun:sqlite'

interface Place {
  workspaceId: string
  environmentId: string | null
  isIsolated: boolean
}

/** The private network of a service by its name: an isolated environment is one of its own, all else of a workspace is in one together. */
export const networkName = ({ workspaceId, environmentId, isIsolated }: Place): string =>
  isIsolated && environmentId !== null ? environmentId : workspaceId

interface Placed extends Omit<Place, 'isIsolated'> {
  id?: string
  foreignCommit?: string | null
}

export function networkOf(db: Database, { id, workspaceId, environmentId, foreignCommit }: Placed): string {
  if (id !== undefined && foreignCommit != null) return id
  const row = db.query<{ is_isolated: number }, [string]>('SELECT is_isolated FROM environments WHERE id = ?').get(environmentId ?? '')
  return networkName({ workspaceId, environmentId, isIsolated: row?.is_isolated === 1 })
}
