import type { Actor } from '../../../http/handlers/call.ts'
import type { AppContext } from '../../context.ts'
import { carryOut, type Move, refusePartingMove } from '../../projects/moving/move.ts'
import { requireEnvironment } from '../../projects/require.ts'
import type { StoredService } from '../store.ts'

interface Wish {
  service: StoredService
  /** Left out, the service stays where it is; null and an empty text take it out. */
  environmentId: string | null | undefined
  isForced: boolean
}

/** What moves a service, to be called in a change. @throws AppError not_found, conflict as `refuseParting`, forbidden out of a protected one. */
export async function plannedMove(context: AppContext, actor: Actor, { service, environmentId, isForced }: Wish): Promise<() => void> {
  if (environmentId === undefined) return () => {}
  const moveNow = (): Move => ({
    resourceIds: [service.id],
    to: environmentId ? requireEnvironment(context, actor, environmentId).id : null,
    pathOf: () => '/environmentId',
  })
  if (!isForced) await refusePartingMove(context, actor, moveNow())
  return () => carryOut(context, actor, moveNow())
}
