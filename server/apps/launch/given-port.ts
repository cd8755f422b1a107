import { traitsOf } from '../../../shared/service-type.ts'
import type { AppContext } from '../context.ts'
import { releaseSecrets } from '../deploys/release-store.ts'
import { INTERNAL_PORT } from '../private-network/internal-port.ts'
import type { StoredService } from '../services/store.ts'
import type { StoredInstance } from '../workloads/instance-store.ts'

/** The port that an instance is told to listen on, as `PORT`: where all share the machine's network, one that nobody else has. */
export const givenPortOf = ({ engine }: Pick<AppContext, 'engine'>, { ownPort, port }: Pick<StoredInstance, 'ownPort' | 'port'>): number =>
  engine.capabilities.ownNetworks ? (ownPort ?? INTERNAL_PORT) : port

/** The port that the variables of a release name, which those of a private service may. */
export function ownPortOf(context: Pick<AppContext, 'db' | 'sealer'>, { type }: StoredService, releaseId: string): number | null {
  if (!traitsOf(type).choosesPort) return null
  const named = releaseSecrets(context, releaseId).envVars.find(({ key }) => key === 'PORT')
  return named === undefined ? null : Number(named.value)
}
