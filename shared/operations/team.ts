import { Type } from '@sinclair/typebox'
import { SignedIn } from '../auth.ts'
import { defineOperations } from '../operation.ts'
import { PageOf, PageQuery } from '../schema.ts'
import {
  MemberParams,
  OwnerMember,
  TeamInvite,
  TeamInviteAccept,
  TeamInviteCreate,
  TeamInviteCreated,
  TeamMember,
  TeamMemberPatch,
} from '../team.ts'

const InviteParams = Type.Object({ inviteId: Type.String({ description: 'Id of the invite' }) })

export const teamOperations = defineOperations({
  listTeamMembers: {
    method: 'GET',
    path: '/v1/team-members',
    access: 'team.read',
    tag: 'Team',
    summary: 'List the members of the workspace',
    description: 'The newest account first.',
    query: Type.Object(PageQuery),
    responses: { 200: PageOf('teamMember', TeamMember) },
  },
  updateTeamMember: {
    method: 'PATCH',
    path: '/v1/team-members/:memberId',
    access: 'team.manage',
    tag: 'Team',
    summary: 'Change the role or the scope of a member',
    description:
      'Takes effect with the next request of the member. Nobody can change a member who may do more than they may, or give more than they have; the last administrator keeps role and scope.',
    params: MemberParams,
    body: TeamMemberPatch,
    responses: { 200: TeamMember },
    errors: ['not_found', 'conflict'],
  },
  removeTeamMember: {
    method: 'DELETE',
    path: '/v1/team-members/:memberId',
    access: 'team.manage',
    tag: 'Team',
    summary: 'Remove a member',
    description:
      'Ends all of their sessions at once and their WebSockets within 5 seconds, and revokes the API keys and invites they made in this workspace. Whoever wants to go themselves leaves: POST /v1/team-members/leave.',
    params: MemberParams,
    responses: { 204: null },
    errors: ['not_found', 'conflict'],
  },
  leaveTeam: {
    method: 'POST',
    path: '/v1/team-members/leave',
    access: 'authenticated',
    tag: 'Team',
    summary: 'Leave the workspace',
    description:
      'The calling user is no member any more; the API keys and invites they made in this workspace are revoked. Their account and their sessions stay. The last administrator cannot leave.',
    responses: { 204: null },
    errors: ['forbidden', 'conflict'],
  },
  listOwnerMembers: {
    method: 'GET',
    path: '/v1/owners/:ownerId/members',
    access: 'team.read',
    tag: 'Workspaces',
    summary: 'The members of a workspace',
    params: Type.Object({ ownerId: Type.String() }),
    responses: { 200: Type.Array(OwnerMember) },
    errors: ['not_found'],
  },
  listTeamInvites: {
    method: 'GET',
    path: '/v1/team-invites',
    access: 'team.manage',
    tag: 'Team',
    summary: 'List the invites that were not accepted yet',
    description: 'Also those that have expired, until they are deleted or replaced.',
    query: Type.Object(PageQuery),
    responses: { 200: PageOf('teamInvite', TeamInvite) },
  },
  createTeamInvite: {
    method: 'POST',
    path: '/v1/team-invites',
    access: 'team.manage',
    changes: 'after_waiting',
    tag: 'Team',
    summary: 'Invite somebody by e-mail',
    description:
      'The link is in this answer and never shown again; it is mailed as well where the operator has configured mail. It is good for 7 days, once, for this address, and for as long as the inviter could still give this role.',
    body: TeamInviteCreate,
    responses: { 201: TeamInviteCreated },
    errors: ['not_found', 'conflict'],
    creates: true,
  },
  deleteTeamInvite: {
    method: 'DELETE',
    path: '/v1/team-invites/:inviteId',
    access: 'team.manage',
    tag: 'Team',
    summary: 'Take back an invite',
    params: InviteParams,
    responses: { 204: null },
    errors: ['not_found'],
  },
  acceptTeamInvite: {
    method: 'POST',
    path: '/v1/team-invites/accept',
    access: 'public',
    changes: 'after_waiting',
    tag: 'Team',
    summary: 'Accept an invite',
    description:
      'With a session the token alone is given, and the user must be the one invited. Without one, `name` and `password` make a new account, which is signed in with a session cookie; whoever has an account logs in first, unless that is in no workspace: then `password` (and `otp`) are its own. Attempts are limited per address.',
    body: TeamInviteAccept,
    responses: { 200: SignedIn },
    errors: ['forbidden', 'not_found', 'conflict'],
  },
})
