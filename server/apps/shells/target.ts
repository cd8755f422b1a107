import { AppError } from '../../../shared/error.ts'
import { traitsOf } from '../../../shared/service-type.ts'
import type { Capabilities } from '../../engines/port/port.ts'
import type { AppContext } from '../context.ts'
import { releaseById, type StoredRelease } from '../deploys/release-store.ts'
import { deployById } from '../deploys/store.ts'
import type { StoredService } from '../services/store.ts'
import { instancesOf, type StoredInstance } from '../workloads/instance-store.ts'

export interface ShellTarget {
  release: StoredRelease
  instance: StoredInstance | undefined
}

/** Where a shell goes. @throws AppError conflict where there is nothing that a shell could see, not_found for a strange instance. */
export function shellTargetOf(
  { db, engine }: Pick<AppContext, 'db' | 'engine'>,
  service: StoredService,
  instanceId: string | undefined,
): ShellTarget {
  if (!traitsOf(service.type).runsProgram)
    throw new AppError('conflict', 'A static site has no processes, so there is nothing to open a shell in.')
  if (service.suspendedAt !== null) throw new AppError('conflict', 'The service is suspended. Resume it, then open the shell.')
  const { terminals } = engine.capabilities
  const instance = terminals.includes('joined') ? chosen(instancesOf(db, service.id), instanceId) : none(instanceId)
  if (instance === undefined) requireOwnTerminals(engine.capabilities)
  const liveReleaseId = service.liveDeployId === null ? null : deployById(db, service.liveDeployId)?.releaseId
  const release = releaseById(db, instance?.releaseId ?? liveReleaseId ?? '')
  if (release === undefined) throw new AppError('conflict', 'Nothing of this service is live yet. Deploy it, then open the shell.')
  return { release, instance }
}

/** @throws AppError conflict where the engine opens no terminal but in a running instance. */
export function requireOwnTerminals({ terminals }: Pick<Capabilities, 'terminals'>): void {
  if (terminals.includes('own')) return
  const how = terminals.includes('joined') ? 'beside the instances; have one run, and open a shell in it' : ''
  throw new AppError('conflict', `No terminal can be opened where this server runs instances${how && ` ${how}`}.`)
}

function none(wantedId: string | undefined): undefined {
  if (wantedId === undefined) return undefined
  throw new AppError('conflict', 'No shell can be opened in an instance where this server runs them. Leave the instance out.')
}

const isRunning = ({ phase, startedAt }: StoredInstance): boolean => phase !== 'pending' && startedAt !== null

function chosen(instances: readonly StoredInstance[], wantedId: string | undefined): StoredInstance | undefined {
  if (wantedId !== undefined) {
    const wanted = instances.find(({ id }) => id === wantedId)
    if (wanted === undefined)
      throw new AppError('not_found', `This service has no instance ${wantedId}. GET /v1/services/{id}/instances lists those there are.`)
    if (!isRunning(wanted)) throw new AppError('conflict', `Instance ${wantedId} does not run now. Leave it out for one that does.`)
    return wanted
  }
  const running = instances.filter(isRunning)
  return running.findLast(({ phase }) => phase === 'serving') ?? running.findLast(({ phase }) => phase !== 'draining')
}
