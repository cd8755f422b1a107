import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import { materialFolder } from '../../apps/backups/repository/layout.ts'
import type { EngineName } from '../../engines/names.ts'
import type { Engine } from '../../engines/port/port.ts'
import { createProcessEngine } from '../../engines/process/engine.ts'
import { type HostService, parseHostService, wrongHostService } from '../../engines/process/network/host-services.ts'
import { placeOnMachine } from '../../engines/process/placing/engine.ts'
import { openDiskQuota } from '../../engines/process/quota/quota.ts'
import { openVolumes } from '../../engines/process/volumes/volumes.ts'
import { describeError } from '../../platform/server-log.ts'
import { isRoot } from '../../platform/service-folders.ts'
import { releaseFolder } from '../../runtime/artifacts/release-folders.ts'
import { roomOf, whileThereIsRoom } from '../../runtime/space/room.ts'
import type { Context } from './context.ts'

type EngineParts = Pick<Context, 'paths' | 'config' | 'log'> & { programs?: Context['programs'] }

type OpenEngine = (parts: EngineParts, hostServices: readonly HostService[]) => Promise<Engine>

const LABEL_CHARS = 12

const engines: Readonly<Record<EngineName, OpenEngine>> = { process: openProcessEngine }

/** The engine of this data directory, which takes over what an earlier one left running. */
export const openEngine = (parts: EngineParts, hostServices: readonly HostService[] = []): Promise<Engine> =>
  engines[parts.config.CP_ENGINE](parts, hostServices)

/** @throws AppError bad_request for a service at no port of this machine, or at the API's own. */
export function hostServicesOf({ CP_HOST_SERVICES, CP_LISTEN }: Pick<Context['config'], 'CP_HOST_SERVICES' | 'CP_LISTEN'>): HostService[] {
  const services = CP_HOST_SERVICES.map(parseHostService)
  const wrong = wrongHostService(services, [CP_LISTEN.port])
  if (wrong !== undefined)
    throw new AppError('bad_request', `CP_HOST_SERVICES: ${wrong}. Name a port of this machine, such as db=127.0.0.1:5432.`)
  return services
}

async function openProcessEngine({ paths, config, log, programs }: EngineParts, hostServices: readonly HostService[]): Promise<Engine> {
  const { CP_INSTANCE_SUBNET: subnet, CP_INGRESS_HTTP, CP_INGRESS_HTTPS } = config
  const publicPorts = [CP_INGRESS_HTTP.port, ...(CP_INGRESS_HTTPS === undefined ? [] : [CP_INGRESS_HTTPS.port])]
  const processes = await createProcessEngine({
    stateDir: paths.engineState,
    // Tells this installation's control groups from those of another on the same machine.
    label: `cpd-${createHash('sha256').update(paths.data).digest('hex').slice(0, LABEL_CHARS)}`,
    hiddenDirs: [paths.db, paths.run, paths.uploads, paths.transfers, paths.disks],
    dataDir: paths.data,
    network: { publicPorts, hostServices, ...(subnet !== '' && { subnet }) },
    log: (message) => log.error('engine', { message }),
  })
  const volumes = openVolumes({
    dir: paths.disks,
    mounts: processes.volumeMounts,
    needed: [paths.data, ...config.CP_BUILD_PATH],
    room: {
      bytes: () => roomOf({ paths, config }).bytes,
      whileThereIs: (need, act) => whileThereIsRoom({ paths, config }, need, act),
    },
  })
  const quota = await openDiskQuota({
    dataDir: paths.data,
    isRoot,
    onError: (error) => log.error('disk limit not set', describeError(error)),
  })
  return placeOnMachine(processes, {
    paths,
    artifact: (serviceId, digest) => releaseFolder(paths, serviceId, digest),
    material: (name) => materialFolder(paths, name),
    programs: programs?.folder ?? ((name) => join(paths.engines, name)),
    volumes,
    quota,
  })
}
