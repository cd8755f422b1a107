import type { AuditEntry } from '../../shared/audit.ts'
import { type IdKind, isId } from '../../shared/id.ts'
import type { Client } from '../api/client.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'

/** More than these are looked up by nobody who reads a page of entries. */
const MAX_NAMES = 1000

/** How people know an id; undefined for what is unknown to the reader, or has no name. */
export type NameOf = (id: string) => string | undefined

type Named = { id: string; name: string }

const lists: Partial<Record<IdKind, (client: Client) => Promise<Named[]>>> = {
  service: async (client) => (await allPages((query) => client.call('listServices', { query }), MAX_NAMES)).map(({ service }) => service),
  disk: async (client) => (await allPages((query) => client.call('listDisks', { query }), MAX_NAMES)).map(({ disk }) => disk),
  project: async (client) => (await allPages((query) => client.call('listProjects', { query }), MAX_NAMES)).map(({ project }) => project),
  environment: async (client) =>
    (await allPages((query) => client.call('listEnvironments', { query }), MAX_NAMES)).map(({ environment }) => environment),
  apiKey: (client) => client.call('listApiKeys'),
  role: async (client) => (await client.call('listRoles')).map(({ role }) => role),
  user: async (client) =>
    (await allPages((query) => client.call('listTeamMembers', { query }), MAX_NAMES)).map(({ teamMember: { id, email } }) => ({
      id,
      name: email,
    })),
}

/** Looks the names up of everything that entries are about or by, as far as the reader may see them. */
export async function namesIn(client: Client, entries: readonly AuditEntry[]): Promise<NameOf> {
  const ids = entries.flatMap(({ target, actor }) => [target, actor.id]).filter((id) => id !== undefined)
  const kinds = (Object.keys(lists) as IdKind[]).filter((kind) => ids.some((id) => isId(kind, id)))
  const found = await Promise.all(kinds.map((kind) => lists[kind]?.(client).catch(unseen) ?? []))
  const names = new Map(found.flat().map(({ id, name }) => [id, name]))
  return (id) => names.get(id)
}

/** Who may read the log need not be allowed to list everything. */
function unseen(error: unknown): Named[] {
  if (error instanceof CliError) return []
  throw error
}

/** An id with the name beside it, the last known one where the thing is gone. */
export function labelOf(id: string, nameOf: NameOf, { metadata }: Pick<AuditEntry, 'metadata'>): string {
  const name = nameOf(id) ?? nameIn(metadata.removed)
  return name === undefined ? id : `${name} (${id})`
}

function nameIn(removed: unknown): string | undefined {
  if (typeof removed !== 'object' || removed === null || !('name' in removed)) return undefined
  return typeof removed.name === 'string' ? removed.name : undefined
}
