/** Where the tools of a transfer run: in a sandbox of their own, as a user that has nothing else, with no network and the limits of a small job. */
import type { InstanceSpec } from '../../../engines/port/workload.ts'
import type { HostStack } from '../../../platform/stack.ts'
import type { WorkloadOwner } from '../../../runtime/workloads/owner.ts'
import type { AppContext } from '../../context.ts'
import { baseEnv } from '../../launch/launch.ts'
import { programsOf } from '../../postgres/programs.ts'
import { type OnceEnd, onceOwner, runOnce } from '../../workloads/run-once.ts'
import type { StoredTransfer } from '../rows/store.ts'
import { WORDS_PROGRAM } from './words-program.ts'

const TRANSFER = { ownerKind: 'transfer', purpose: 'tools' } as const

export const transferOwner = (context: AppContext): WorkloadOwner => onceOwner(context, TRANSFER)

const stack: HostStack = { kind: 'host', folders: [], searchPath: ['bin'] }
const TIMEOUT_MS = 24 * 60 * 60_000
const GIB = 1024 ** 3
const limits = { cpu: 1, memoryBytes: GIB, pids: 64 }

export interface ToolRun {
  transfer: Pick<StoredTransfer, 'id' | 'number'>
  version: string
  command: string
  env: Record<string, string>
  /** Files that the script reads, by name: passwords stand in no environment of the sandbox as it begins. */
  secrets: Record<string, string>
  signal: AbortSignal
}

/** Runs a script of tools to its end. @throws what ends the control plane. */
export async function runTools(context: AppContext, { transfer, version, command, env, secrets, signal }: ToolRun): Promise<OnceEnd> {
  const { id, number } = transfer
  const { name } = programsOf(context, version)
  await context.programs.ensure(name)
  const secretFiles = Object.entries(secrets).map(([file, content]) => ({ name: file, content }))
  const spec: InstanceSpec = {
    owner: { id, number },
    files: { programs: name },
    command,
    env: (view) => ({
      ...baseEnv(view),
      LC_ALL: 'C',
      PGCONNECT_TIMEOUT: '30',
      CPD_MATERIAL: view.material ?? '',
      CPD_SECRETS: view.secrets,
      CPD_WORDS: WORDS_PROGRAM,
      ...env,
    }),
    secretFiles: { key: `${id}-secrets`, read: () => secretFiles },
    limits,
    priority: 'background',
    material: id,
    network: 'none',
    stack,
    instanceId: id,
    deployId: '',
    outputName: id,
    runs: 'once',
  }
  return await runOnce(context, { ...TRANSFER, spec, timeoutMs: TIMEOUT_MS, signal })
}
