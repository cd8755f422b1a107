import { insertWorkspace } from '../../../server/identity/memberships/store.ts'
import { newId } from '../../../server/platform/id.ts'
import type { Permission } from '../../../shared/permission.ts'
import { beginSession } from '../../support/access.ts'
import { type CallOptions, call, type Reply } from '../../support/client.ts'
import { addEnvironment } from '../../support/environments.ts'
import type { TestServer } from '../../support/server.ts'
import { emptyState, linesOf, type Scope, type State, type Subject } from './model.ts'
import type { Move } from './moves.ts'

const PEOPLE = 5

/** A workspace of its own on the shared server: its first person is its administrator, the others are nobody yet. */
export interface World {
  people: readonly string[]
  projects: readonly string[]
  /** Sends a move as a request. `made` is the id of what came of it. */
  send(move: Move): Promise<{ status: number; made: string }>
  /** What the subject is told they may do; undefined where they are told nothing. */
  permissionsOf(subject: Subject): Promise<{ status: number; permissions: readonly Permission[] | undefined }>
  /** The services that the subject is shown; undefined where they are shown none at all. */
  servicesOf(subject: Subject): Promise<readonly string[] | undefined>
  /** Signs somebody in whose sessions were ended. */
  signIn(user: string): void
  /** What the database holds, in the form of the model's `linesOf`. */
  lines(): string[]
}

export async function makeWorld(server: TestServer): Promise<{ world: World; state: State }> {
  const now = Date.now()
  const workspaceId = newId('workspace', now)
  const people = Array.from({ length: PEOPLE }, () => newId('user', now))
  const [first = ''] = people
  insertWorkspace(server.db, { id: workspaceId, name: 'Played in', email: 'owner@example.com', createdAt: now })
  for (const id of people)
    server.db
      .query("INSERT INTO users (id, email, name, password_hash, created_at) VALUES (?, ?, 'Somebody', '', ?)")
      .run(id, addressOf(id), now)
  server.db.query("INSERT INTO members (workspace_id, user_id, role, created_at) VALUES (?, ?, 'admin', ?)").run(workspaceId, first, now)
  const state = emptyState()
  state.members.set(first, { role: 'admin', scope: null })

  const cookies = new Map(people.map((id) => [id, beginSession(server, id)]))
  const secrets = new Map<string, string>()
  const tokens = new Map<string, string>()
  const credentialsOf = ({ kind, id }: Subject): CallOptions =>
    kind === 'key'
      ? { token: secrets.get(id) ?? '' }
      : { cookie: cookies.get(id) ?? '', headers: { origin: server.url, 'x-workspace-id': workspaceId } }
  const ask = (by: Subject, method: string, path: string, json?: unknown): Promise<Reply<Record<string, unknown> | undefined>> =>
    call(`${server.url}/v1${path}`, { method, ...credentialsOf(by), ...(json === undefined ? {} : { json }) })
  const projects: string[] = []
  for (const isProtected of [false, true, false]) {
    const [projectId] = projects
    const made = addEnvironment(server, {
      workspaceId,
      isProtected,
      ...(projects.length === 1 && projectId !== undefined && { projectId }),
    })
    if (!projects.includes(made.projectId)) projects.push(made.projectId)
    state.environments.set(made.environmentId, { project: made.projectId, isProtected })
  }
  for (const environmentId of [null, state.environments.keys().next().value ?? null]) {
    const json = { type: 'web_service', name: crypto.randomUUID(), environmentId }
    const { body } = await ask({ kind: 'user', id: first }, 'POST', '/services', json)
    state.services.set(idOf(body), environmentId)
  }

  return {
    state,
    world: {
      people,
      projects,
      async send(move) {
        const { method, path, json } = requestOf(move, tokens)
        const { status, body } = await ask(move.by, method, path, json)
        const made = status === 201 ? idOf(body) : ''
        if (typeof body?.secret === 'string') secrets.set(made, body.secret)
        if (typeof body?.token === 'string') tokens.set(made, body.token)
        return { status, made }
      },
      async servicesOf(subject) {
        const { status, body } = await ask(subject, 'GET', '/services?limit=100')
        const items = body as { service: { id: string } }[] | undefined
        return status === 200 ? items?.map(({ service }) => service.id) : undefined
      },
      async permissionsOf(subject) {
        const { status, body } = await ask(subject, 'GET', '/auth/me')
        return { status, permissions: status === 200 ? (body?.permissions as Permission[]) : undefined }
      },
      signIn: (user) => void cookies.set(user, beginSession(server, user)),
      lines: () => storedLines(server, workspaceId),
    },
  }
}

const addressOf = (user: string): string => `${user}@example.com`

/** Services stand one level down in what is answered. */
const idOf = (body: Record<string, unknown> | undefined): string =>
  String(body?.id ?? (body?.service as { id: string } | undefined)?.id ?? '')

const kinds = { serviceIds: 'srv-', environmentIds: 'evm-', projectIds: 'prj-' }

const scopeBody = (scope: Scope | undefined): unknown =>
  scope == null
    ? scope
    : Object.fromEntries(Object.entries(kinds).map(([name, prefix]) => [name, scope.filter((id) => id.startsWith(prefix))]))

/** Moves as requests. What was never made has an id that nobody has. */
function requestOf(move: Move, tokens: ReadonlyMap<string, string>): { method: string; path: string; json?: unknown } {
  switch (move.kind) {
    case 'createRole':
      return { method: 'POST', path: '/roles', json: { name: move.name, permissions: move.permissions } }
    case 'patchRole':
      return { method: 'PATCH', path: `/roles/${move.role}`, json: { permissions: move.permissions } }
    case 'renameRole':
      return { method: 'PATCH', path: `/roles/${move.role}`, json: { name: move.name } }
    case 'deleteRole':
      return { method: 'DELETE', path: `/roles/${move.role}` }
    case 'changeMember':
      return { method: 'PATCH', path: `/team-members/${move.user}`, json: { role: move.role, scope: scopeBody(move.scope) } }
    case 'removeMember':
      return { method: 'DELETE', path: `/team-members/${move.user}` }
    case 'leave':
      return { method: 'POST', path: '/team-members/leave' }
    case 'invite':
      return { method: 'POST', path: '/team-invites', json: { email: addressOf(move.user), role: move.role, scope: scopeBody(move.scope) } }
    case 'deleteInvite':
      return { method: 'DELETE', path: `/team-invites/${move.invite}` }
    case 'accept':
      return { method: 'POST', path: '/team-invites/accept', json: { token: tokens.get(move.invite) ?? 'never-given-out' } }
    case 'createKey':
      return { method: 'POST', path: '/api-keys', json: { name: 'key', role: move.role, scope: scopeBody(move.scope) } }
    case 'revokeKey':
      return { method: 'DELETE', path: `/api-keys/${move.key}` }
    case 'createService':
      return {
        method: 'POST',
        path: '/services',
        json: { type: 'web_service', name: crypto.randomUUID(), environmentId: move.environment },
      }
    case 'moveService':
      return { method: 'PATCH', path: `/services/${move.service}?force=true`, json: { environmentId: move.to } }
    case 'createEnvironment':
      return { method: 'POST', path: '/environments', json: { projectId: move.project, name: crypto.randomUUID() } }
    case 'deleteEnvironment':
      return { method: 'DELETE', path: `/environments/${move.environment}` }
  }
}

interface HolderRow {
  id: string
  role: string
  scope: string | null
  /** The maker of a key, the address of an invite. */
  about: string
  by: string
}

function storedLines({ db }: TestServer, workspaceId: string): string[] {
  const rows = (sql: string) => db.query<HolderRow, [string]>(`${sql} WHERE workspace_id = ?`).all(workspaceId)
  const holder = ({ role, scope }: HolderRow) => ({ role, scope: scope === null ? null : (JSON.parse(scope) as string[]) })
  const state = emptyState()
  const roles = db
    .query<{ id: string; name: string; permissions: string }, [string]>('SELECT id, name, permissions FROM roles WHERE workspace_id = ?')
    .all(workspaceId)
  for (const { id, name, permissions } of roles) state.roles.set(id, { name, permissions: JSON.parse(permissions) as Permission[] })
  for (const row of rows("SELECT user_id AS id, role, scope, '' AS about, '' AS by FROM members")) state.members.set(row.id, holder(row))
  for (const row of rows("SELECT id, role, scope, created_by AS about, '' AS by FROM api_keys"))
    state.keys.set(row.id, { ...holder(row), madeBy: row.about })
  for (const row of rows('SELECT id, role, scope, email AS about, inviter_id AS by FROM invites'))
    state.invites.set(row.id, { ...holder(row), user: row.about.split('@')[0] ?? '', inviter: { kind: 'user', id: row.by } })
  for (const { id, environment } of db
    .query<{ id: string; environment: string | null }, [string]>(
      'SELECT id, environment_id AS environment FROM services WHERE workspace_id = ?',
    )
    .all(workspaceId))
    state.services.set(id, environment)
  for (const { id, project } of db
    .query<{ id: string; project: string }, [string]>('SELECT id, project_id AS project FROM environments WHERE workspace_id = ?')
    .all(workspaceId))
    state.environments.set(id, { project, isProtected: false })
  return linesOf(state)
}
