/** A cluster is made by a workload in a sandbox with its volume and no network, which runs once. */
import type { InstanceSpec, SecretFile } from '../../engines/port/workload.ts'
import type { HostStack } from '../../platform/stack.ts'
import type { WorkloadOwner } from '../../runtime/workloads/owner.ts'
import type { AppContext } from '../context.ts'
import { VOLUME_PATH } from '../datastores/owner.ts'
import { baseEnv } from '../launch/launch.ts'
import { onceOwner, runOnce } from '../workloads/run-once.ts'
import { ADMIN } from './roles.ts'
import { scramVerifier } from './sql.ts'
import { CLUSTER_SCRIPT } from './start-script.ts'

const CLUSTER = { ownerKind: 'cluster', purpose: 'initialise' } as const

export const clusterOwner = (context: AppContext): WorkloadOwner => onceOwner(context, CLUSTER)

export interface NewCluster {
  owner: InstanceSpec['owner']
  volumeId: string
  version: string
  program: string
  adminPassword: string
  priority: 'live' | 'background'
}

const TIMEOUT_MS = 10 * 60_000
const stack: HostStack = { kind: 'host', folders: [], searchPath: ['bin'] }
/** A plan's own share of a processor would have people wait for seconds. */
const LIMITS = { cpu: 1, memoryBytes: 256 * 1024 * 1024, pids: 64 }

const runIdOf = (volumeId: string): string => `${volumeId}.cluster`

/** Makes a cluster in a volume, unless there is one. @throws Error with the last words of what failed, and what ends the control plane. */
export async function makeCluster(context: AppContext, cluster: NewCluster): Promise<void> {
  await context.programs.ensure(cluster.program)
  const { isDone, output } = await runOnce(context, { ...CLUSTER, spec: specOf(cluster), timeoutMs: TIMEOUT_MS })
  if (!isDone) throw new Error(`No cluster could be made: ${output.trim()}`)
}

/** Ends what may be making one still, of a process before this one too. */
export const endClusterRun = ({ work }: Pick<AppContext, 'work'>, volumeId: string): Promise<void> => work.awaited.end(runIdOf(volumeId))

function specOf({ owner, volumeId, version, program, adminPassword, priority }: NewCluster): InstanceSpec {
  const id = runIdOf(volumeId)
  const major = Number(version)
  return {
    owner,
    files: { programs: program },
    command: CLUSTER_SCRIPT,
    env: (view) => ({
      ...baseEnv(view),
      LANG: 'C',
      CPD_ADMIN: ADMIN,
      CPD_SECRETS: view.secrets,
      CPD_VOLUME: view.volume ?? '',
      // The order of texts is the same on every machine with it, so that no index breaks where a backup is restored elsewhere.
      CPD_LOCALE_PROVIDER: major >= 17 ? 'builtin' : '',
      // The content of a database that is copied as files is not in the log.
      CPD_STRATEGY: major >= 15 ? 'STRATEGY file_copy' : '',
    }),
    secretFiles: { key: id, read: () => [passwordFile(adminPassword)] },
    limits: LIMITS,
    priority,
    volume: { volumeId, mountPath: VOLUME_PATH },
    network: 'none',
    stack,
    ...{ instanceId: id, deployId: '', outputName: id, runs: 'once' },
  }
}

/** A server takes what it keeps of a password in place of the password. */
const passwordFile = (password: string): SecretFile => ({ name: 'admin-password', content: `${scramVerifier(password)}\n` })
