import type { Database } from 'bun:sqlite'
import { type DeviceRequest, showUserCode, userCodeOf } from '../../../shared/device.ts'
import { AppError } from '../../../shared/error.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { findMembership, listWorkspacesOf } from '../memberships/store.ts'
import { addressCounterOf } from '../throttle/login-counters.ts'
import type { Throttle } from '../throttle/throttle.ts'
import { answerGrant, findGrantByUserCode, type StoredGrant } from './grant-store.ts'

interface ConfirmDeps {
  db: Database
  throttle: Throttle
  now(): number
}

interface Typing {
  typed: string
  actor: Actor
  address: string
}

/** @throws AppError `not_found` for a code that none waits with, `rate_limited` after too many of those. */
export function readRequest(deps: ConfirmDeps, typing: Typing): DeviceRequest {
  return present(deps.db, requireGrant(deps, typing), typing.actor)
}

/** @throws AppError as `readRequest`; `forbidden` for others than the session of a browser, `conflict` for a code that was answered. */
export function answerRequest(
  deps: ConfirmDeps,
  typing: Typing,
  { isApproved, isInBrowser }: { isApproved: boolean; isInBrowser: boolean },
): DeviceRequest {
  const grant = requireGrant(deps, typing)
  if (!isInBrowser || typing.actor.type !== 'user')
    throw new AppError('forbidden', 'Only somebody logged in with a browser can let a device in. Open the page /device there.')
  if (grant.status !== 'pending') throw new AppError('conflict', 'This code was answered before. Begin the login again on the device.')
  const status = isApproved ? 'approved' : 'denied'
  answerGrant(deps.db, grant.userCode, { status, userId: typing.actor.id })
  return present(deps.db, { ...grant, status }, typing.actor)
}

function requireGrant({ db, throttle, now }: ConfirmDeps, { typed, actor, address }: Typing): StoredGrant {
  const counters = [`device:${actor.id}`, `device:${addressCounterOf(address)}`]
  throttle.begin(counters)
  const code = userCodeOf(typed)
  const grant = code === undefined ? undefined : findGrantByUserCode(db, code, now())
  if (grant === undefined)
    throw new AppError('not_found', 'No device waits with this code. Compare it, or begin the login again on the device.')
  for (const counter of counters) throttle.takeBack(counter)
  return grant
}

function present(db: Database, grant: StoredGrant, actor: Actor): DeviceRequest {
  const { client, address, status } = grant
  const workspaces = actor.type === 'user' ? listWorkspacesOf(db, actor.id) : []
  return {
    userCode: showUserCode(grant.userCode),
    client,
    address,
    createdAt: new Date(grant.createdAt).toISOString(),
    expiresAt: new Date(grant.expiresAt).toISOString(),
    status,
    workspaces: workspaces.map(({ id, name }) => ({ id, name, role: findMembership(db, actor.id, id)?.role ?? '' })),
  }
}
