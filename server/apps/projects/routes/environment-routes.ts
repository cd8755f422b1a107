import type { Operations } from '../../../../shared/operations/all.ts'
import type { EnvironmentPatch } from '../../../../shared/project.ts'
import type { Actor, Handlers } from '../../../http/handlers/call.ts'
import { requireProtectedRight } from '../../../identity/scopes/protection.ts'
import type { AppContext } from '../../context.ts'
import { untilRouted } from '../../services/until-routed.ts'
import { carryOut, type Move, refusePartingMove, requireResource, seenResource } from '../moving/move.ts'
import { refuseParting } from '../moving/refuse-parting.ts'
import { requireEnvironment } from '../require.ts'
import { patched } from '../rules.ts'
import { type StoredEnvironment, updateEnvironment } from '../store.ts'
import { refuseTakenEnvironment } from './operations.ts'
import { presentEnvironment } from './present.ts'

type EnvironmentIds = Extract<keyof Operations, 'updateEnvironment' | 'addEnvironmentResources' | 'removeEnvironmentResources'>

/** What changes who reaches whom. All of it is in force for new connections when the answer is given. */
export const environmentRoutes: Handlers<EnvironmentIds, AppContext> = {
  async updateEnvironment({ actor, params, query, body, change }, context) {
    const { environment } = planPatch(context, actor, { id: params.environmentId, patch: body })
    if (query.force !== true && body.networkIsolationEnabled === true && !environment.isIsolated)
      await refuseParting(context, actor, {
        change: { isolation: new Map([[environment.id, true]]) },
        pathOf: () => '/networkIsolationEnabled',
      })
    const changed = change(() => {
      const { changed } = planPatch(context, actor, { id: params.environmentId, patch: body })
      refuseTakenEnvironment(context.db, changed)
      updateEnvironment(context.db, changed)
      requireProtectedRight(context.db, actor, changed.id)
      return changed
    })
    await untilRouted(context)
    return presentEnvironment(context.db, actor, changed)
  },
  async addEnvironmentResources({ actor, params, query, body, change }, context) {
    const { id } = requireEnvironment(context, actor, params.environmentId)
    const move: Move = { ...body, to: id, pathOf: (resourceId) => `/resourceIds/${body.resourceIds.indexOf(resourceId)}` }
    if (query.force !== true) await refusePartingMove(context, actor, move)
    change(() => {
      requireEnvironment(context, actor, id)
      carryOut(context, actor, move)
    })
    await untilRouted(context)
    return presentEnvironment(context.db, actor, requireEnvironment(context, actor, id))
  },
  async removeEnvironmentResources({ actor, params, query, change, note }, context) {
    if (seenResource(context, actor, params.environmentId) !== undefined) {
      for (const id of query.resourceIds) requireResource(context, actor, id)
      change(() => note({ isUnchanged: true }))
      return
    }
    const { id } = requireEnvironment(context, actor, params.environmentId)
    const pathOf = (resourceId: string) => `/resourceIds/${query.resourceIds.indexOf(resourceId)}`
    const move = (): Move => ({
      resourceIds: query.resourceIds.filter((one) => requireResource(context, actor, one).environmentId === id),
      to: null,
      pathOf,
    })
    if (query.force !== true) await refusePartingMove(context, actor, move())
    change(() => carryOut(context, actor, move()))
    await untilRouted(context)
  },
}

function planPatch(
  context: Pick<AppContext, 'db' | 'now'>,
  actor: Actor,
  { id, patch }: { id: string; patch: EnvironmentPatch },
): { environment: StoredEnvironment; changed: StoredEnvironment } {
  const environment = requireEnvironment(context, actor, id)
  const changed = { ...patched(environment, patch), updatedAt: context.now() }
  requireProtectedRight(context.db, actor, id)
  return { environment, changed }
}
