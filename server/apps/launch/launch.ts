import { type PlanName, plans } from '../../../shared/plan.ts'
import { commandIn } from '../../builders/launch.ts'
import type { InstanceSpec, Limits, Owner, View, Workload } from '../../engines/port/workload.ts'
import type { AppContext } from '../context.ts'
import { releaseSecrets, type StoredRelease } from '../deploys/release-store.ts'
import { diskForInstance } from '../disks/workload.ts'
import { networkOf } from '../private-network/names/network.ts'
import { limitSpace } from '../services/space-limit.ts'
import type { StoredService } from '../services/store.ts'
import { userNamespacesOf } from '../services/user-namespaces.ts'
import { type PlatformFacts, platformEnv } from '../variables/platform-env.ts'
import type { StoredInstance } from '../workloads/instance-store.ts'
import { preferredPortOf } from './preferred-port.ts'

type InstanceFacts = Omit<PlatformFacts, 'secretsDir' | 'port'>

const MIB = 1024 * 1024

export async function prepareInstance(
  context: AppContext,
  { service, release, instance }: { service: StoredService; release: StoredRelease; instance: StoredInstance },
): Promise<InstanceSpec> {
  const { id, deployId } = instance
  const listens = { preferredPort: preferredPortOf(instance) }
  return { ...(await prepareWorkload(context, { service, release, workload: { id, deployId } })), listens }
}

/** What is started in a release: an instance with the command and plan of the release, or a job with its own. */
export interface ReleaseWorkload {
  id: string
  deployId: string
  command?: string
  plan?: PlanName
}

export async function prepareWorkload(
  context: AppContext,
  { service, release, workload }: { service: StoredService; release: StoredRelease; workload: ReleaseWorkload },
): Promise<InstanceSpec> {
  await limitSpace(context, service)
  const disk = diskForInstance(context, service.id)
  const { id, deployId } = workload
  return { ...workloadIn(context, { service, release, workload }), ...disk, instanceId: id, deployId, outputName: id }
}

/** What is to run in a release, with its files, variables, secrets and limits, and no volume. */
export function workloadIn(
  context: AppContext,
  { service, release, workload }: { service: StoredService; release: StoredRelease; workload: ReleaseWorkload },
): Workload {
  const { id, deployId, command = release.launch.startCommand, plan = release.settings.plan } = workload
  const facts = { instanceId: id, deployId }
  return {
    owner: ownerOf(service),
    files: { artifact: release.artifact },
    command: commandIn(release.launch.appDir, command),
    env: (view) => instanceEnv(context, { service, release, facts, view }),
    secretFiles: { key: release.id, read: () => releaseSecrets(context, release.id).secretFiles },
    limits: limitsOf(plan),
    network: { name: networkOf(context.db, service) },
    stack: release.launch.stack,
    ...userNamespacesOf(context.config, service),
  }
}

export const ownerOf = ({ id, uid }: Pick<StoredService, 'id' | 'uid'>): Owner => ({ id, number: uid })

/** In a network of its own an app is not asked from loopback, from where alone gunicorn and uvicorn take X-Forwarded headers unless told. */
const BEHIND_INGRESS = { FORWARDED_ALLOW_IPS: '*' }

interface Surroundings {
  service: StoredService
  release: StoredRelease
  facts: InstanceFacts
  view: View
}

/** Nothing listens in a job or a shell, but what reads PORT must find a number. */
const NO_PORT = 0

/** The environment of an instance: the toolchain's, then the user's, then what the platform says, which wins. */
function instanceEnv(context: AppContext, { service, release, facts, view }: Surroundings): Record<string, string> {
  const { envVars } = releaseSecrets(context, release.id)
  return {
    ...baseEnv(view),
    ...(context.engine.capabilities.ownNetworks ? BEHIND_INGRESS : {}),
    ...release.launch.env,
    ...Object.fromEntries(envVars.map(({ key, value }) => [key, value])),
    ...platformEnv(context, service, { ...facts, port: view.port ?? NO_PORT, secretsDir: view.secrets }),
    ...(view.volume !== undefined && { CPD_DISK_PATH: view.volume }),
  }
}

/** What every process of a service is given, builds included. */
export const baseEnv = ({ home, searchPath }: Pick<View, 'home' | 'searchPath'>): Record<string, string> => ({
  PATH: searchPath,
  HOME: home,
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
})

export const limitsOf = (plan: PlanName): Limits => {
  const { cpu, memoryMb, pids } = plans[plan]
  return { cpu, memoryBytes: memoryMb * MIB, pids }
}
