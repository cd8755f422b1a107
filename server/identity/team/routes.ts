import type { Operations } from '../../../shared/operations/all.ts'
import { idPageOf, pageOf } from '../../http/answers/page.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import type { IdentityContext } from '../context.ts'
import { changeMember, leave, removeMember } from './operations.ts'
import { listMembers, presentMember, presentOwnerMember } from './store.ts'

type MemberIds = Extract<keyof Operations, 'listTeamMembers' | 'updateTeamMember' | 'removeTeamMember' | 'leaveTeam' | 'listOwnerMembers'>

export const memberRoutes: Handlers<MemberIds, IdentityContext> = {
  listTeamMembers({ actor, query }, { db }) {
    const page = idPageOf(query)
    return pageOf('teamMember', listMembers(db, actor.workspaceId, page).map(presentMember), ({ id }) => [id])
  },
  updateTeamMember({ actor, params, body, note }, { db }) {
    const { member, revokedKeys } = changeMember(db, actor, { userId: params.memberId, patch: body })
    if (revokedKeys.length > 0) note({ metadata: { revokedKeys: revokedKeys.map(({ id, name }) => ({ id, name })) } })
    return presentMember(member)
  },
  removeTeamMember({ actor, params, note }, { db }) {
    note({ metadata: { ...removeMember(db, actor, params.memberId) } })
  },
  leaveTeam({ actor, note }, { db }) {
    note({ target: actor.id, metadata: { role: actor.role, ...leave(db, actor) } })
  },
  listOwnerMembers: ({ actor }, { db }) =>
    listMembers(db, actor.workspaceId, { beforeId: undefined, limit: Number.MAX_SAFE_INTEGER }).map(presentOwnerMember),
}
