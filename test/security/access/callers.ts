import type { Access } from '../../../shared/operation.ts'
import { type OperationId, operationOf } from '../../../shared/operations/all.ts'
import { type BuiltInRole, builtInRoles, type Permission, permissionNames, workspaceWide } from '../../../shared/permission.ts'
import type { PathIds } from '../../conformance/requests.ts'
import { addRole, beginSession } from '../../support/access.ts'
import { type CallOptions, call, cookieOf } from '../../support/client.ts'
import { addEnvironment, putInto } from '../../support/environments.ts'
import { addMember, makeKey } from '../../support/members.ts'
import { testAdmin } from '../../support/server.ts'
import { expected } from './expected.ts'
import { isOfService, namedBy } from './request.ts'
import type { Place } from './things.ts'

/** What a caller is to be answered: what the operation answers to who is let in, or a refusal. */
export type Verdict = 'let in' | 401 | 403 | 404

/** A way of calling, and what the rules say of it. */
export interface Caller {
  name: string
  /** What the request carries; given what it names, as a scope is set anew for each. */
  credentials(ids: PathIds): CallOptions
  userId?: string
  verdict(id: OperationId): Verdict
}

/** What a key may do: it has no account. */
const allowedToKey = (id: OperationId, held: readonly Permission[]): Verdict => (expected[id].isPersonal ? 403 : allowed(id, held))

/** The rule of every operation: public is for all, `authenticated` for all who are somebody, the rest for who holds it. */
function allowed(id: OperationId, held: readonly Permission[]): Verdict {
  const { access } = operationOf(id)
  return isLetIn(access, held) ? 'let in' : 403
}
const isLetIn = (access: Access, held: readonly Permission[]): boolean =>
  access === 'public' || access === 'authenticated' || held.includes(access)

const isPublic = (id: OperationId): boolean => operationOf(id).access === 'public'

/** Whether the request needs to come from a page of ours when it carries a cookie. */
const needsOrigin = (id: OperationId): boolean => operationOf(id).method !== 'GET' || operationOf(id).webSocket === true

/** Everybody who may call at the place: all of them members or keys of it, or nobody. */
export async function makeCallers(place: Place): Promise<Caller[]> {
  return [
    ...nobodies(),
    ...(await endedKeys(place)),
    ...(await builtInCallers(place)),
    ...(await scopedCallers(place)),
    ...(await sessions(place)),
  ]
}

const unauthorized = (id: OperationId): Verdict => (isPublic(id) ? 'let in' : 401)
const noOne = (name: string, credentials: CallOptions): Caller => ({ name, credentials: () => credentials, verdict: unauthorized })

const nobodies = (): Caller[] => [
  noOne('nobody', {}),
  noOne('a token that nobody has', { token: 'cpk_wrong' }),
  noOne('a token of 400 bytes', { token: 'x'.repeat(400) }),
  noOne('a credential that is no token', { headers: { authorization: 'Basic YWRtaW46YWRtaW4=' } }),
  noOne('an empty token', { headers: { authorization: 'Bearer ' } }),
  noOne('a cookie that nobody has', { cookie: 'cpd_session=wrong' }),
]

async function endedKeys({ server, token }: Place): Promise<Caller[]> {
  const revoked = await makeKey(server, 'admin', token)
  await call(`${server.url}/v1/api-keys/${revoked.id}`, { method: 'DELETE', token })
  const expired = await makeKey(server, 'admin', token)
  server.db.query('UPDATE api_keys SET expires_at = ? WHERE id = ?').run(Date.now() - 1, expired.id)
  const [cut, ended] = [await makeKey(server, 'admin', token), cookieOf(await call(`${server.url}/v1/auth/login`, { json: testAdmin }))]
  await call(`${server.url}/v1/auth/logout`, { method: 'POST', cookie: ended, headers: { origin: server.url } })
  return [
    noOne('a revoked key', { token: revoked.secret }),
    noOne('an expired key', { token: expired.secret }),
    noOne('a key without its last letter', { token: cut.secret.slice(0, -1) }),
    noOne('a session that has ended', { cookie: ended, headers: { origin: server.url } }),
  ]
}

async function builtInCallers(place: Place): Promise<Caller[]> {
  const { server, token } = place
  const holder = async (name: string, role: string, held: readonly Permission[]): Promise<Caller> => {
    const { secret } = await makeKey(server, role, token)
    return { name, credentials: () => ({ token: secret }), verdict: (id) => allowedToKey(id, held) }
  }
  const roles = Object.keys(builtInRoles) as BuiltInRole[]
  return [
    { name: 'the static token', credentials: () => ({ token }), verdict: (id) => allowedToKey(id, permissionNames) },
    ...(await Promise.all(roles.map((role) => holder(`a key of the role ${role}`, role, builtInRoles[role].permissions)))),
    await customHolder(place, 'a key of a role that holds nothing', []),
  ]
}

/** For each permission a custom role of only it, and one of all but it. */
export async function makeCustomCallers(place: Place): Promise<ReadonlyMap<Permission, readonly Caller[]>> {
  const pairs = permissionNames.map(async (permission) => {
    const callers = [
      await customHolder(place, `a key of a role that holds only ${permission}`, [permission]),
      await customHolder(
        place,
        `a key of a role that holds all but ${permission}`,
        permissionNames.filter((name) => name !== permission),
      ),
    ]
    return [permission, callers] as const
  })
  return new Map(await Promise.all(pairs))
}

async function customHolder(place: Place, name: string, held: readonly Permission[]): Promise<Caller> {
  const { secret } = await makeKey(place.server, addRole(place, held), place.token)
  return { name, credentials: () => ({ token: secret }), verdict: (id) => allowedToKey(id, held) }
}

/** What is in environments, and of no service. */
const beyondServices = ['envGroupId', 'postgresId', 'keyValueId']

/** Keys of administrators that are confined: to the service that the request is about, to where it is, and to other places. */
async function scopedCallers(place: Place): Promise<Caller[]> {
  const { server, token, workspaceId } = place
  const { body } = await call<{ service: { id: string } }>(`${server.url}/v1/services`, {
    json: { type: 'web_service', name: 'scope' },
    token,
  })
  const other = body.service.id
  const [here, elsewhere] = [addEnvironment(server, { workspaceId }), addEnvironment(server, { workspaceId })]
  const key = await makeKey(server, 'admin', token)
  const scopedTo = (id: string): CallOptions => {
    server.db.query('UPDATE api_keys SET scope = ? WHERE id = ?').run(JSON.stringify([id]), key.id)
    return { token: key.secret }
  }
  const ofServices = permissionNames.filter((name) => !workspaceWide.has(name))
  const ofEnvironments: Permission[] = [...ofServices, 'services.create', 'datastores.create']
  const within = (held: readonly Permission[], isOut: (id: OperationId) => boolean) => (id: OperationId) =>
    allowedToKey(id, held) === 'let in' && isOut(id) ? 404 : allowedToKey(id, held)
  const inPlace = (held: readonly Permission[], isOut: (id: OperationId) => boolean) => (id: OperationId) =>
    allowedToKey(id, held) === 'let in' && expected[id].isWayOut ? 403 : within(held, isOut)(id)
  const never = () => false
  const isBeyondServices = (id: OperationId) =>
    !expected[id].isFilter &&
    (expected[id].isElsewhere === true ? !namedBy(id).includes('serviceId') : beyondServices.some((name) => namedBy(id).includes(name)))
  const withoutPlace = (id: OperationId): Verdict => (expected[id].isPlaced && allowedToKey(id, ofServices) === 'let in' ? 403 : 'let in')
  const inEnvironment = (ids: PathIds, scopedId: string): CallOptions => {
    for (const id of [ids.serviceId, ids.envGroupId, ids.postgresId, ids.keyValueId])
      if (id !== undefined) putInto(server, id, ids.environmentId ?? here.environmentId)
    return scopedTo(scopedId)
  }
  return [
    {
      name: 'an administrator confined to the service',
      credentials: ({ serviceId }) => scopedTo(serviceId ?? other),
      verdict: (id) => (withoutPlace(id) === 403 ? 403 : inPlace(ofServices, isBeyondServices)(id)),
    },
    {
      name: 'an administrator confined to another service',
      credentials: () => scopedTo(other),
      verdict: (id) => (withoutPlace(id) === 403 ? 403 : within(ofServices, isOfService)(id)),
    },
    {
      name: "an administrator confined to the service's environment",
      credentials: (ids) => inEnvironment(ids, ids.environmentId ?? here.environmentId),
      verdict: inPlace(ofEnvironments, (id) => expected[id].isElsewhere === true && !namedBy(id).includes('environmentId')),
    },
    {
      name: 'an administrator confined to another environment',
      credentials: (ids) => inEnvironment(ids, elsewhere.environmentId),
      verdict: within(ofEnvironments, isOfService),
    },
    {
      name: 'an administrator confined to the project of its environment',
      credentials: (ids) => inEnvironment(ids, ids.projectId ?? here.projectId),
      verdict: inPlace(ofEnvironments, never),
    },
    {
      name: 'an administrator confined to another project',
      credentials: (ids) => inEnvironment(ids, elsewhere.projectId),
      verdict: within(ofEnvironments, isOfService),
    },
  ]
}

/** Each request has a session of its own, because some operations end it. */
async function sessions({ server, workspaceId }: Place): Promise<Caller[]> {
  const signedIn = async (
    role: BuiltInRole,
    headers: Record<string, string>,
    verdict: Caller['verdict'],
    name: string,
  ): Promise<Caller> => {
    const { userId } = await addMember(server, workspaceId, role)
    const credentials = (): CallOptions => {
      // Who has left is back at the next request.
      server.db
        .query('INSERT OR IGNORE INTO members (workspace_id, user_id, role, created_at) VALUES (?, ?, ?, 1)')
        .run(workspaceId, userId, role)
      return { cookie: beginSession(server, userId), headers }
    }
    return { name, userId, credentials, verdict }
  }
  const own = { origin: server.url }
  const foreign = { origin: 'https://evil.example' }
  const withoutPage = (id: OperationId): Verdict => (needsOrigin(id) ? 403 : 'let in')
  return [
    await signedIn('admin', own, () => 'let in', 'a session of an administrator, from our own page'),
    await signedIn('viewer', own, (id) => allowed(id, builtInRoles.viewer.permissions), 'a session of a viewer, from our own page'),
    await signedIn('admin', {}, withoutPage, 'a session of an administrator, from no page'),
    await signedIn('admin', foreign, withoutPage, "a session of an administrator, from another site's page"),
  ]
}
