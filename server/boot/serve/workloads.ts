import { restoreOwner } from '../../apps/backups/work/owner.ts'
import { datastoreOwner } from '../../apps/datastores/owner.ts'
import { instanceOwner } from '../../apps/instances/owner.ts'
import { jobOwner } from '../../apps/jobs/owner.ts'
import { stepOwners } from '../../apps/pipeline/step-owner.ts'
import { clusterOwner } from '../../apps/postgres/cluster.ts'
import { upgradeOwner } from '../../apps/postgres/upgrade/run.ts'
import { transferOwner } from '../../apps/transfers/tools/sandbox.ts'
import type { SetOwner } from '../../engines/port/sets.ts'
import type { Owner } from '../../runtime/owner.ts'
import { createKeeper, type Keeper } from '../../runtime/workloads/keeper.ts'
import type { WorkloadOwner } from '../../runtime/workloads/owner.ts'
import type { Context, Work } from './context.ts'
import { datastoreServers } from './datastore-servers.ts'

const ownersIn = (context: Context): WorkloadOwner[] => [
  instanceOwner(context),
  jobOwner(context),
  ...stepOwners(context),
  datastoreOwner(context, datastoreServers(context)),
  restoreOwner(context),
  clusterOwner(context),
  upgradeOwner(context),
  transferOwner(context),
]

/** What is looked at anew when something has changed of what runs for an owner, by the owner's kind. */
const pokedBy: Readonly<Record<Owner['kind'], Parameters<Work['poke']>[0]>> = { service: 'service', datastore: 'datastore' }

/** Rows of a kind that a later version has brought are nobody's here. */
export function pokeOwner(work: Pick<Work, 'poke'>, { ownerKind, ownerId }: SetOwner): void {
  if (isOwnerKind(ownerKind)) work.poke(pokedBy[ownerKind], ownerId)
}

const isOwnerKind = (kind: string): kind is Owner['kind'] => Object.hasOwn(pokedBy, kind)

/** The keeper of everything that runs. It asks for the context when there is something to keep. */
export const keepWorkloads = (base: Omit<Context, 'work' | 'sets'>, context: () => Context): Keeper =>
  createKeeper({ ...base, signal: base.stopping }, () => ownersIn(context()))
