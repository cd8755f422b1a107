import type { Database } from 'bun:sqlite'
import { timingSafeEqual } from 'node:crypto'
import { apiKeyPrefix } from '../../../shared/api-key.ts'
import { accessTokenPrefix } from '../../../shared/device.ts'
import type { Identify, Principal } from '../../http/access/authenticate.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { isKeySecret } from '../api-keys/secret.ts'
import { findKeyByHash } from '../api-keys/store.ts'
import { readSeeded } from '../memberships/seeded.ts'
import { findFirstMembership, findMembership, type Membership } from '../memberships/store.ts'
import { permissionsIn } from '../permissions/grant.ts'
import { reachOf } from '../scopes/reach.ts'
import { permissionsWithin } from '../scopes/scope.ts'
import { findDeviceUser, findSessionUser, findSessionUserById, type SessionUser } from '../sessions/store.ts'
import { hashToken } from '../tokens/token.ts'
import { findUser } from '../users/store.ts'
import type { UseRecorder } from './use-recorder.ts'

interface IdentifyDeps {
  db: Database
  staticToken: string | undefined
  keyUse: UseRecorder
  now(): number
}

/** Nothing is remembered, so what is revoked is dead at once; roles and scopes are looked up with each request for the same reason. */
export function createIdentify(deps: IdentifyDeps): Identify {
  const { db, now } = deps
  const isStatic = createStaticCheck(deps.staticToken)
  return (credential) => {
    if (credential.kind === 'session') return userPrincipal(db, findSessionUser(db, credential.token, now()))
    if (credential.kind !== 'bearer') return undefined
    const { token } = credential
    const hash = hashToken(token)
    if (isStatic(hash)) return staticPrincipal(db)
    if (token.startsWith(accessTokenPrefix)) return devicePrincipal(deps, findDeviceUser(db, token, now()))
    // What has not the form of a key, or a checksum that does not fit, is in no table.
    return token.startsWith(apiKeyPrefix) && isKeySecret(token) ? keyPrincipal(deps, hash) : undefined
  }
}

function createStaticCheck(staticToken: string | undefined): (hash: string) => boolean {
  if (staticToken === undefined) return () => false
  const wanted = Buffer.from(hashToken(staticToken))
  return (hash) => timingSafeEqual(Buffer.from(hash), wanted)
}

function userPrincipal(db: Database, user: SessionUser | undefined): Principal | undefined {
  if (user === undefined) return undefined
  return {
    rateKey: user.id,
    actorIn: (workspaceId) => {
      const place = workspaceId === undefined ? findFirstMembership(db, user.id) : findMembership(db, user.id, workspaceId)
      if (place === undefined) return undefined
      const { id, name, email } = user
      const actor: Actor = { type: 'user', id, name, email, ...rightsOf(db, place) }
      return place.requiresTwoFactor && !user.hasTwoFactor ? { ...actor, isTwoFactorMissing: true } : actor
    },
  }
}

/** The token lasts an hour, and what it has begun by then as long as the session. */
function devicePrincipal(deps: IdentifyDeps, user: SessionUser | undefined): Principal | undefined {
  const { db, now } = deps
  const principal = userPrincipal(db, user)
  if (user === undefined || principal === undefined) return undefined
  return { ...principal, again: () => devicePrincipal(deps, findSessionUserById(db, user.sessionId, now())) }
}

function keyPrincipal({ db, keyUse, now }: IdentifyDeps, hash: string): Principal | undefined {
  const key = findKeyByHash(db, hash, now())
  if (key === undefined) return undefined
  keyUse.note(key, now())
  const { id, name, workspaceId, role, scope } = key
  return {
    rateKey: id,
    actorIn: (wanted) =>
      wanted === undefined || wanted === workspaceId
        ? { type: 'api_key', id, name, ...rightsOf(db, { workspaceId, role, scope }) }
        : undefined,
  }
}

/** The static token is an administrator of the default workspace whatever became of its account: it is the operator's way back in. */
function staticPrincipal(db: Database): Principal | undefined {
  const seeded = readSeeded(db)
  if (seeded === undefined) return undefined
  const { userId, workspaceId } = seeded
  return {
    rateKey: 'static_token',
    actorIn: (wanted) => {
      if (wanted !== undefined && wanted !== workspaceId) return undefined
      const user = findUser(db, userId)
      const named = user === undefined ? { name: 'Static token' } : { name: user.name, email: user.email }
      return { type: 'static_token', id: userId, ...named, ...rightsOf(db, { workspaceId, role: 'admin', scope: undefined }) }
    },
  }
}

type Place = Pick<Membership, 'workspaceId' | 'role' | 'scope'>

const rightsOf = (db: Database, { workspaceId, role, scope }: Place): Pick<Actor, 'workspaceId' | 'role' | 'permissions' | 'scope'> => ({
  workspaceId,
  role,
  permissions: permissionsWithin(scope, permissionsIn(db, workspaceId, role)),
  scope: reachOf(db, scope),
})
