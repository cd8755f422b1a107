import { AppError } from '../../../shared/error.ts'
import type { Operation } from '../../../shared/operation.ts'
import { enterWorkspace, type Principal, requireAccess, requirePrincipal } from '../access/authenticate.ts'
import { type Credential, credentialOf } from '../access/credential.ts'
import { isStateChanging, refuseForeignOrigin, requireOwnOrigin } from '../access/origin.ts'
import type { Actor, ActorScope } from '../handlers/call.ts'
import { rateClassOf } from '../limits/rate-class.ts'
import type { RequestContext } from './request-context.ts'

export interface Admission {
  actor: Actor | undefined
  readmit(workspaceIds: readonly string[]): Actor | undefined
}

/** @throws AppError `rate_limited`, `unauthorized`, `forbidden`, or `not_found` for a workspace of others. */
export function admit(received: RequestContext, operation: Operation, workspaceIds: readonly string[]): Admission {
  const { access, webSocket } = operation
  const credential = operation.isCrossSite ? noCredential : credentialOf(received.request.headers)
  const principal = identified(received, credential)
  received.count({
    class: rateClassOf(operation),
    credential: principal?.rateKey,
    isGuess: access !== 'public' && principal === undefined && (credential.kind === 'bearer' || credential.kind === 'session'),
  })
  if (access !== 'public') requirePrincipal(principal, credential)
  // Browsers send the cookie with a WebSocket handshake from any page, so that GET needs the check as well.
  if (webSocket || (isStateChanging(received.request.method) && !operation.isCrossSite)) checkOrigin(received, credential, principal)
  const actor = access === 'public' ? principal?.actorIn(undefined) : actorOf({ principal, credential }, operation, workspaceIds)
  return {
    actor,
    readmit(more) {
      if (access === 'public') return actor
      const present = principal?.again === undefined ? identified(received, credential) : principal.again()
      const current = actorOf({ principal: present, credential }, operation, [...workspaceIds, ...more])
      refuseNarrowed(actor, current)
      return current
    },
  }
}

const noCredential: Credential = { kind: 'none' }

function identified(received: RequestContext, credential: Credential): Principal | undefined {
  return credential.kind === 'none' || credential.kind === 'malformed' ? undefined : received.parts.identify(credential)
}

interface Caller {
  principal: Principal | undefined
  credential: Credential
}

function actorOf({ principal, credential }: Caller, operation: Operation, workspaceIds: readonly string[]): Actor {
  const actor = enterWorkspace(requirePrincipal(principal, credential), workspaceIds)
  requireAccess(actor, operation)
  return guarded(actor, operation)
}

const guarded = (actor: Actor, { inProtected }: Operation): Actor =>
  inProtected === undefined || actor.permissions.has('environments.manage_protected') ? actor : { ...actor, guarded: inProtected }

/** What was looked up under a wider scope, or with the right to protected environments, may be out of reach now. */
function refuseNarrowed(before: Actor | undefined, current: Actor): void {
  if (before?.workspaceId !== current.workspaceId) return
  if (!isScopeKept(before.scope, current.scope))
    throw new AppError('forbidden', 'You have been confined to fewer services in the meantime. Try again with those that are left.')
  if (before.guarded === undefined && current.guarded !== undefined)
    throw new AppError('forbidden', 'You have lost the permission environments.manage_protected in the meantime. Try again without it.')
}

/** By what is named: environments of a project come and go while the scope stays. */
function isScopeKept(before: ActorScope | undefined, current: ActorScope | undefined): boolean {
  if (current === undefined) return true
  return (
    before?.serviceIds.isSubsetOf(current.serviceIds) === true &&
    before.environmentIds.isSubsetOf(current.environmentIds) &&
    before.projectIds.isSubsetOf(current.projectIds)
  )
}

function checkOrigin({ request, parts }: RequestContext, credential: Credential, principal: Principal | undefined): void {
  if (credential.kind === 'bearer') return
  const check = principal === undefined ? refuseForeignOrigin : requireOwnOrigin
  check(request.headers, parts.ownOrigins())
}
