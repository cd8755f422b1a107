import { AppError } from '../../../shared/error.ts'
import type { Actor } from '../../http/handlers/call.ts'

/** Whether a change is to deploy what it makes a difference for. @throws AppError forbidden for who may deploy nothing. */
export function isDeployed({ permissions }: Actor, { deploy = false }: { deploy?: boolean }): boolean {
  if (deploy && !permissions.has('deploys.create'))
    throw new AppError(
      'forbidden',
      'Deploying what a change makes a difference for needs the permission deploys.create. Leave deploy out, or ask for the permission.',
    )
  return deploy
}
