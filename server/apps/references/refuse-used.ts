import type { Database } from 'bun:sqlite'
import { AppError } from '../../../shared/error.ts'
import { usersOf } from './users.ts'

const MOST_TOLD = 20

/**
 * Refuses to delete a datastore that variables refer to. Belongs in the transaction that begins the deletion; one that is forced goes by it.
 * @throws AppError conflict naming who refers to it.
 */
export function refuseUsed(db: Database, datastore: { id: string; name: string; workspaceId: string }): void {
  const { services, groups } = usersOf(db, datastore)
  const users = [
    ...services.map(({ id, name, key }) => ({ told: `${name} (${key})`, id })),
    ...groups.map(({ id, name }) => ({ told: `the env group ${name}`, id })),
  ]
  if (users.length === 0) return
  const shown = users.slice(0, MOST_TOLD)
  const more = users.length > shown.length ? ` and ${users.length - shown.length} more` : ''
  throw new AppError(
    'conflict',
    `Variables refer to ${datastore.name}: ${shown.map(({ told }) => told).join(', ')}${more}. Remove those first, or delete it with force=true.`,
    { details: shown.map(({ told, id }) => ({ path: '', message: `${told}, ${id}, refers to it` })) },
  )
}
