import { AppError } from '../../../shared/error.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import { permissionNames } from '../../../shared/permission.ts'
import { sessionTokenOf } from '../../http/access/credential.ts'
import { type Actor, answer, type Call, type Handlers } from '../../http/handlers/call.ts'
import { findKeyMaker } from '../api-keys/store.ts'
import type { IdentityContext } from '../context.ts'
import { findWorkspace } from '../memberships/store.ts'
import { presentScope } from '../scopes/scope.ts'
import { createCookieWriter } from '../sessions/cookie.ts'
import { placeOf } from '../sessions/place.ts'
import { deleteSession } from '../sessions/store.ts'
import { deviceCookieOf, deviceTokenOf } from '../sign-in/known-devices.ts'
import { type SignIn, signIn } from '../sign-in/sign-in.ts'
import { findUser, presentUser } from '../users/store.ts'
import { register } from './register.ts'

type AuthIds = Extract<keyof Operations, 'register' | 'login' | 'logout' | 'me' | 'getUser'>

export function createAuthRoutes({ publicUrl }: Pick<IdentityContext, 'publicUrl'>): Handlers<AuthIds, IdentityContext> {
  const cookie = createCookieWriter(publicUrl)
  const greet = (status: number, { signedIn, sessionToken, deviceToken }: SignIn) =>
    answer(status, signedIn, cookie.set(sessionToken), deviceToken === undefined ? [] : [deviceCookieOf(publicUrl, deviceToken)])

  return {
    async register(call, context) {
      const wanted = { ...call.body, place: placeOf(call), change: call.change, onAccount: noteUser(call) }
      return greet(201, await register(context, wanted))
    },
    async login(call, context) {
      const { email, password, otp } = call.body
      const result = await signIn(context, {
        email,
        password,
        otp,
        place: placeOf(call),
        deviceToken: deviceTokenOf(call.request.headers),
        change: (apply) =>
          call.change(() => {
            const applied = apply()
            endSession(context.db, call.request)
            return applied
          }),
        onAccount: noteUser(call),
      })
      return greet(200, result)
    },
    logout({ request }, { db }) {
      endSession(db, request)
      return answer(204, undefined, cookie.clear())
    },
    me: ({ actor }, { db }) => ({
      actor: { type: actor.type, id: actor.id, name: actor.name, ...(actor.email === undefined ? {} : { email: actor.email }) },
      workspace: workspaceOf(db, actor),
      role: actor.role,
      permissions: permissionNames.filter((name) => actor.permissions.has(name)),
      scope: presentScope(actor.scope),
    }),
    getUser: ({ actor }, { db }) => userBehind(db, actor),
  }
}

const noteUser =
  ({ note }: Pick<Call<Operations['login']>, 'note'>) =>
  ({ id, email }: { id: string; email: string }): void =>
    note({ actor: { type: 'user', id, email } })

function endSession(db: IdentityContext['db'], request: Request): void {
  const token = sessionTokenOf(request.headers)
  if (token !== undefined) deleteSession(db, token)
}

function workspaceOf(db: IdentityContext['db'], { workspaceId }: Actor): { id: string; name: string } {
  const workspace = findWorkspace(db, workspaceId)
  if (workspace === undefined) throw new AppError('not_found', 'The workspace has just been removed.')
  return { id: workspace.id, name: workspace.name }
}

/** For a key, the user is who made it, because clients of keys ask this to greet their owner. */
function userBehind(db: IdentityContext['db'], actor: Actor): ReturnType<typeof presentUser> {
  const user = findUser(db, actor.type === 'api_key' ? (findKeyMaker(db, actor.id) ?? '') : actor.id)
  if (user === undefined) throw new AppError('not_found', 'The user behind this credential no longer exists.')
  return presentUser(user)
}
