/** The part of an upgrade that a sandbox does: pg_upgrade with the programs of both versions. */
import { type PostgresPlan, postgresPlans } from '../../../../shared/postgres.ts'
import type { InstanceSpec } from '../../../engines/port/workload.ts'
import type { HostStack } from '../../../platform/stack.ts'
import type { WorkloadOwner } from '../../../runtime/workloads/owner.ts'
import type { AppContext } from '../../context.ts'
import { VOLUME_PATH } from '../../datastores/owner.ts'
import type { StoredDatastore } from '../../datastores/store.ts'
import { baseEnv } from '../../launch/launch.ts'
import { onceOwner, runOnce } from '../../workloads/run-once.ts'
import { programsOf } from '../programs.ts'
import { ADMIN } from '../roles.ts'
import { type Verdict, verdictIn } from '../upgrade-rules.ts'
import type { StoredUpgrade } from '../upgrade-store.ts'
import { UPGRADE_SCRIPT } from './upgrade-script.ts'

const UPGRADE = { ownerKind: 'cluster', purpose: 'upgrade' } as const

export const upgradeOwner = (context: AppContext): WorkloadOwner => onceOwner(context, UPGRADE)

const steps = ['check', 'link'] as const
export type SandboxStep = (typeof steps)[number]

const MINUTE_MS = 60_000
/** Linking takes as long as there are tables. */
const TIMEOUTS_MS: Readonly<Record<SandboxStep, number>> = { check: 10 * MINUTE_MS, link: 120 * MINUTE_MS }
const MIB = 1024 * 1024
const LEAST_MEMORY = 512 * MIB
/** Version from which on clusters are made with the order of texts that comes with the server. */
const BUILTIN_LOCALES = 17

const stack: HostStack = { kind: 'host', folders: [], searchPath: ['bin'] }

const runIdOf = (volumeId: string, step: SandboxStep): string => `${volumeId}.upgrade-${step}`

export interface Upgrading {
  datastore: StoredDatastore
  upgrade: StoredUpgrade
}

/** Goes on with a run that was begun by a process before this one. @throws what ends the control plane. */
export async function runStep(context: AppContext, upgrading: Upgrading, step: SandboxStep): Promise<Verdict> {
  const { output } = await runOnce(context, { ...UPGRADE, spec: specOf(context, upgrading, step), timeoutMs: TIMEOUTS_MS[step] })
  return verdictIn(output)
}

/** Ends what may be running still, of a process before this one too. */
export async function endUpgradeRuns({ work }: Pick<AppContext, 'work'>, volumeId: string): Promise<void> {
  for (const step of steps) await work.awaited.end(runIdOf(volumeId, step))
}

function specOf(context: AppContext, { datastore, upgrade }: Upgrading, step: SandboxStep): InstanceSpec {
  const { id, number, volumeId, plan } = datastore
  const { fromVersion, toVersion } = upgrade
  const [former, program] = [programsOf(context, fromVersion).name, programsOf(context, toVersion).name]
  const { cpu, memoryMb, pids } = postgresPlans[plan as PostgresPlan]
  const runId = runIdOf(volumeId, step)
  return {
    owner: { id, number },
    files: { programs: program, beside: [former] },
    command: UPGRADE_SCRIPT,
    env: (view) => ({
      ...baseEnv(view),
      LANG: 'C',
      CPD_ADMIN: ADMIN,
      CPD_STEP: step,
      CPD_TO: toVersion,
      CPD_ROOT: view.root,
      CPD_FORMER: view.beside?.[former] ?? '',
      CPD_VOLUME: view.volume ?? '',
      // A cluster keeps the order of texts that it was made with.
      CPD_LOCALE_PROVIDER: Number(fromVersion) >= BUILTIN_LOCALES ? 'builtin' : '',
    }),
    limits: { cpu: Math.max(1, cpu), memoryBytes: Math.max(LEAST_MEMORY, memoryMb * MIB), pids },
    priority: 'live',
    volume: { volumeId, mountPath: VOLUME_PATH },
    network: 'none',
    stack,
    ...{ instanceId: runId, deployId: '', outputName: runId, runs: 'once' },
  }
}
