import type { Database } from 'bun:sqlite'
import { timingSafeEqual } from 'node:crypto'
import type { User } from '../../shared/auth.ts'
import { findKeyByHash, type StoredKey } from '../api-keys/store.ts'
import type { Identify, Principal } from '../http/authenticate.ts'
import type { Actor } from '../http/call.ts'
import { permissionsIn } from '../roles/grant.ts'
import { findFirstMembership, findMembership, type Membership } from '../workspaces/store.ts'
import { readSeeded } from './seed.ts'
import { findSessionUser } from './session-store.ts'
import { hashToken } from './token.ts'
import { findUser } from './user-store.ts'

interface IdentifyDeps {
  db: Database
  /** The operator's break-glass token, if there is one. Only its hash is kept here. */
  staticToken: string | undefined
  now(): number
}

/**
 * Finds whom a credential belongs to, by one look into an index: nothing is remembered, so what is revoked is dead at once.
 * Roles are looked up with each request for the same reason.
 */
export function createIdentify({ db, staticToken, now }: IdentifyDeps): Identify {
  const staticHash = staticToken === undefined ? undefined : hashToken(staticToken)
  return (credential) => {
    if (credential.kind === 'session') {
      const user = findSessionUser(db, credential.token, now())
      return user === undefined ? undefined : userPrincipal(db, user)
    }
    if (credential.kind !== 'bearer') return undefined
    const hash = hashToken(credential.token)
    if (staticHash !== undefined && isSameHash(hash, staticHash)) return staticPrincipal(db)
    const key = findKeyByHash(db, hash)
    return key === undefined ? undefined : keyPrincipal(db, key)
  }
}

const isSameHash = (left: string, right: string): boolean => timingSafeEqual(Buffer.from(left), Buffer.from(right))

function userPrincipal(db: Database, user: User): Principal {
  return {
    rateKey: user.id,
    actorIn: (workspaceId) => {
      const place = workspaceId === undefined ? findFirstMembership(db, user.id) : findMembership(db, user.id, workspaceId)
      return place === undefined ? undefined : { type: 'user', ...user, ...rightsOf(db, place) }
    },
  }
}

function keyPrincipal(db: Database, { id, name, workspaceId, role }: StoredKey): Principal {
  return {
    rateKey: id,
    actorIn: (wanted) =>
      wanted === undefined || wanted === workspaceId ? { type: 'api_key', id, name, ...rightsOf(db, { workspaceId, role }) } : undefined,
  }
}

/** The static token is the seeded administrator in the default workspace, with whatever role that account has there today. */
function staticPrincipal(db: Database): Principal | undefined {
  const seeded = readSeeded(db)
  const user = seeded === undefined ? undefined : findUser(db, seeded.userId)
  if (seeded === undefined || user === undefined) return undefined
  return {
    rateKey: 'static_token',
    actorIn: (wanted) => {
      const place = findMembership(db, seeded.userId, seeded.workspaceId)
      if (place === undefined || (wanted !== undefined && wanted !== seeded.workspaceId)) return undefined
      return { type: 'static_token', id: user.id, name: user.name, email: user.email, ...rightsOf(db, place) }
    },
  }
}

const rightsOf = (db: Database, { workspaceId, role }: Membership): Pick<Actor, 'workspaceId' | 'role' | 'permissions' | 'scope'> => ({
  workspaceId,
  role,
  permissions: permissionsIn(db, workspaceId, role),
  scope: undefined,
})
