import { traitsOf } from '../../../shared/service-type.ts'
import type { AppContext } from '../context.ts'
import { releaseSecrets } from '../deploys/release-store.ts'
import { INTERNAL_PORT } from '../private-network/internal-port.ts'
import type { StoredService } from '../services/store.ts'
import type { StoredInstance } from '../workloads/instance-store.ts'

/** The port that an instance is told as `PORT` wherever its engine can give it that one. */
export const preferredPortOf = ({ ownPort }: Pick<StoredInstance, 'ownPort'>): number => ownPort ?? INTERNAL_PORT

/** The port that the variables of a release name, which those of a private service may. */
export function ownPortOf(context: Pick<AppContext, 'db' | 'sealer'>, { type }: StoredService, releaseId: string): number | null {
  if (!traitsOf(type).choosesPort) return null
  const named = releaseSecrets(context, releaseId).envVars.find(({ key }) => key === 'PORT')
  return named === undefined ? null : Number(named.value)
}
