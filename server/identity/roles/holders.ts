import type { Database } from 'bun:sqlite'

interface Holder {
  name: string
  count: number
}

const MOST_NAMED = 3

const kinds = [
  { one: 'member', from: 'members h JOIN users u ON u.id = h.user_id', name: 'u.name', isAlive: '1' },
  { one: 'API key', from: 'api_keys h', name: 'h.name', isAlive: '(h.expires_at IS NULL OR h.expires_at > $now)' },
  { one: 'invite', from: 'invites h', name: 'h.email', isAlive: 'h.expires_at > $now' },
] as const

/** Who holds a role, in words; undefined when nobody does. Expired keys and invites hold nothing. */
export function holdersOf(db: Database, role: { workspaceId: string; name: string }, now: number): string | undefined {
  const parts = kinds.flatMap(({ one, from, name, isAlive }) => {
    const holders = db
      .query<Holder, Record<string, string | number>>(
        `SELECT ${name} AS name, count(*) OVER () AS count FROM ${from}
         WHERE h.workspace_id = $workspaceId AND h.role = $role AND ${isAlive} AND $now > 0 ORDER BY h.created_at, ${name} LIMIT ${MOST_NAMED}`,
      )
      .all({ workspaceId: role.workspaceId, role: role.name, now })
    return holders[0] === undefined ? [] : [inWords(one, holders, holders[0].count)]
  })
  return parts.length === 0 ? undefined : new Intl.ListFormat('en', { type: 'conjunction' }).format(parts)
}

const inWords = (one: string, holders: readonly Holder[], count: number): string =>
  `${count} ${one}${count === 1 ? '' : 's'} (${holders.map(({ name }) => name).join(', ')}${count > holders.length ? ', …' : ''})`

export const usersOf = (db: Database, { workspaceId, name }: { workspaceId: string; name: string }): string[] =>
  db
    .query<{ userId: string }, Record<string, string>>(
      `SELECT user_id AS userId FROM members WHERE workspace_id = $workspaceId AND role = $name
       UNION SELECT created_by FROM api_keys WHERE workspace_id = $workspaceId AND role = $name`,
    )
    .all({ workspaceId, name })
    .map(({ userId }) => userId)
