import { AppError } from '../../../shared/error.ts'
import type { StoredService } from '../services/store.ts'
import { resolvedVariables, type VariableContext } from './resolved.ts'

/**
 * Refuses a change after which variables of the service would refer to each other in a circle. What is not set may still be, by a group
 * that is linked later, so that is found out at the deploy. Belongs in the transaction of the change.
 * @throws AppError validation_failed with the circle.
 */
export function refuseCircles(context: VariableContext, service: StoredService): void {
  const wrong = resolvedVariables(context, service).find(({ isCircle }) => isCircle === true)
  if (wrong === undefined) return
  const message = `${wrong.key} of ${service.name} ${wrong.problem}. Give one of them its value.`
  throw new AppError('validation_failed', message, { details: [{ path: `/${wrong.key}`, message }] })
}
