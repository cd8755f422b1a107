import type { EnvGroup } from '../../../shared/env-group.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import { idPageOf, pageOf } from '../../http/answers/page.ts'
import { type Actor, type Answer, answer, type Handlers } from '../../http/handlers/call.ts'
import { isProtected } from '../../identity/scopes/protection.ts'
import type { AppContext } from '../context.ts'
import { requireService } from '../services/require.ts'
import { binderFor } from '../variables/bind.ts'
import { resolveEnvEntry, resolveEnvInput } from '../variables/rules.ts'
import type { Changed } from './change.ts'
import { isDeployed } from './deploy-right.ts'
import { listGroups } from './list.ts'
import {
  createGroup,
  deleteFile,
  deleteGroup,
  deleteVariable,
  linkGroup,
  renameGroup,
  replaceVariables,
  setFile,
  setVariable,
  unlinkGroup,
} from './operations.ts'
import { presentChanged, presentGroup, presentListed } from './present.ts'
import { requireGroup, requireRightToReferred, requireRightToUsed } from './require.ts'
import { listGroupVariables, type StoredGroup } from './store/group-store.ts'

type GroupIds = Extract<keyof Operations, `${string}EnvGroup${string}` | `${string}GroupEnvVar${string}` | `${string}GroupSecretFile`>

export const envGroupRoutes: Handlers<GroupIds, AppContext> = {
  listEnvGroups({ actor, query }, context) {
    const groups = listGroups(context.db, actor, { ...query, ...idPageOf(query) })
    return pageOf(
      'envGroup',
      groups.map((group) => presentListed(context, actor, group)),
      ({ id }) => [id],
    )
  },
  createEnvGroup({ actor, query, body }, context) {
    return presentChanged(context, actor, createGroup(context, actor, { body, isDeployed: isDeployed(actor, query) }))
  },
  getEnvGroup: ({ actor, params }, context) => presentGroup(context, actor, requireGroup(context, actor, params.envGroupId)),
  updateEnvGroup({ actor, params, body }, context) {
    const group = requireGroup(context, actor, params.envGroupId)
    return presentGroup(context, actor, renameGroup(context, group, body.name ?? group.name))
  },
  deleteEnvGroup({ actor, params, query }, context) {
    const group = requireGroup(context, actor, params.envGroupId)
    requireRightToUsed(context, actor, group)
    const gone = presentGroup(context, actor, group)
    const { touched } = deleteGroup(context, group, { isForced: query.force === true, isDeployed: isDeployed(actor, query) })
    return query.deploy === undefined ? answer(204, undefined) : answer(200, { ...gone, touched })
  },
  replaceGroupEnvVars({ actor, params, query, body }, context) {
    const group = requireGroup(context, actor, params.envGroupId)
    const entries = resolveEnvInput(body, ofGroup(context, actor, group))
    return presentChanged(context, actor, replaceVariables(context, group, { entries, isDeployed: isDeployed(actor, query) }))
  },
  setGroupEnvVar({ actor, params, query, body }, context) {
    const group = requireGroup(context, actor, params.envGroupId)
    const entry = resolveEnvEntry(params.key, body, ofGroup(context, actor, group))
    return presentChanged(context, actor, setVariable(context, group, { entry, isDeployed: isDeployed(actor, query) }))
  },
  deleteGroupEnvVar({ actor, params, query }, context) {
    const group = requireGroup(context, actor, params.envGroupId)
    const changed = deleteVariable(context, group, { key: params.key, isDeployed: isDeployed(actor, query) })
    return ifAsked({ actor, query }, context, changed)
  },
  setGroupSecretFile({ actor, params, query, body }, context) {
    const group = requireGroup(context, actor, params.envGroupId)
    const file = { name: params.fileName, content: body.content }
    return presentChanged(context, actor, setFile(context, group, { file, isDeployed: isDeployed(actor, query) }))
  },
  deleteGroupSecretFile({ actor, params, query }, context) {
    const group = requireGroup(context, actor, params.envGroupId)
    const changed = deleteFile(context, group, { name: params.fileName, isDeployed: isDeployed(actor, query) })
    return ifAsked({ actor, query }, context, changed)
  },
  linkEnvGroup({ actor, params, query }, context) {
    const group = requireGroup(context, actor, params.envGroupId)
    const service = requireService(context, actor, params.serviceId)
    if (!isProtected(context.db, service.environmentId)) requireRightToUsed(context, actor, group)
    requireRightToReferred(context, actor, { group, environmentId: service.environmentId })
    return presentChanged(context, actor, linkGroup(context, group, { service, isDeployed: isDeployed(actor, query) }))
  },
  unlinkEnvGroup({ actor, params, query }, context) {
    const group = requireGroup(context, actor, params.envGroupId)
    const service = requireService(context, actor, params.serviceId)
    return ifAsked({ actor, query }, context, unlinkGroup(context, group, { service, isDeployed: isDeployed(actor, query) }))
  },
}

const ofGroup = (context: AppContext, actor: Actor, { id, environmentId }: StoredGroup) => ({
  type: undefined,
  bind: binderFor(context, actor, { environmentId, held: listGroupVariables(context, id) }),
})

interface Asked {
  actor: Actor
  query: { deploy?: boolean }
}

/** Removals answer nothing to clients of Render's API, and the group to who wants to know what they mean. */
const ifAsked = ({ actor, query }: Asked, context: AppContext, changed: Changed): Answer<EnvGroup | undefined> =>
  query.deploy === undefined ? answer(204, undefined) : answer(200, presentChanged(context, actor, changed))
