import { AppError, invalidValue } from '../../../shared/error.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import { credentialOf } from '../../http/access/credential.ts'
import { idPageOf, pageOf } from '../../http/answers/page.ts'
import { type Answer, answer, type Handlers } from '../../http/handlers/call.ts'
import type { IdentityContext } from '../context.ts'
import { hashPassword } from '../passwords/password.ts'
import { type CookieWriter, createCookieWriter } from '../sessions/cookie.ts'
import { endAccess, endSignIns } from '../sessions/end-access.ts'
import { placeOf } from '../sessions/place.ts'
import { createSession } from '../sessions/store.ts'
import { setPasswordHash } from '../users/store.ts'
import { proveOwner, type UserCall } from './prove-owner.ts'
import { deleteSessionById, listSessions, presentSession, sessionOf } from './session-list.ts'

type AccountIds = Extract<keyof Operations, 'listSessions' | 'endSession' | 'endOtherSessions' | 'changePassword'>

export function createAccountRoutes({ publicUrl }: Pick<IdentityContext, 'publicUrl'>): Handlers<AccountIds, IdentityContext> {
  const cookie = createCookieWriter(publicUrl)
  return {
    listSessions({ actor, query, request }, { db, now }) {
      const sessions = listSessions(db, actor.id, { ...idPageOf(query), now: now() })
      const currentId = sessionOf(db, request)?.id
      return pageOf(
        'session',
        sessions.map((session) => presentSession(session, currentId)),
        ({ id }) => [id],
      )
    },
    endSession({ actor, params, request, note }, { db }) {
      const isCurrent = sessionOf(db, request)?.id === params.sessionId
      if (!deleteSessionById(db, actor.id, params.sessionId)) {
        throw new AppError('not_found', 'You have no session with this id. GET /v1/sessions lists them.')
      }
      note({ target: params.sessionId })
      return answer(204, undefined, isCurrent && showsCookie(request) ? cookie.clear() : {})
    },
    endOtherSessions({ actor, request }, { db }) {
      // Devices that were let in and have not fetched their token would be back a moment later.
      endSignIns(db, actor.id, sessionOf(db, request)?.id)
      return answer(204, undefined)
    },
    async changePassword(call, context) {
      const { currentPassword, newPassword } = call.body
      if (newPassword === currentPassword) throw invalidValue('/newPassword', 'Choose another password than the present one.')
      const { user, change } = await proveOwner(context, call, { password: currentPassword, passwordPath: '/currentPassword' })
      const passwordHash = await hashPassword(newPassword)
      return change(() => {
        setPasswordHash(context.db, user.id, passwordHash)
        return endOthers(context, call, cookie)
      })
    },
  }
}

function endOthers({ db, now }: IdentityContext, call: UserCall, cookie: CookieWriter): Answer<undefined> {
  const { actor, request } = call
  if (!showsCookie(request)) {
    endAccess(db, actor.id, sessionOf(db, request)?.id)
    return answer(204, undefined)
  }
  endAccess(db, actor.id)
  const token = createSession(db, { userId: actor.id, place: placeOf(call), now: now() })
  return answer(204, undefined, cookie.set(token))
}

const showsCookie = (request: Request): boolean => credentialOf(request.headers).kind === 'session'
