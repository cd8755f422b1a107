import { readFileSync, realpathSync } from 'node:fs'
import type { Guarantee } from '../../engines/port/port.ts'
import { type RunResult, runProcess } from '../../platform/process/spawn.ts'
import { runSystemTool, systemEnv } from '../../platform/process/system-tools.ts'
import { mountOf } from './mounts.ts'
import { clearQuotaArgv, isEnforced, type PlanNames, printStateArgv, quotaAdvice, quotaMb, setQuotaArgv } from './quota-plan.ts'

export interface DiskQuota {
  readonly guarantee: Guarantee
  limit(user: { uid: number; settings: PlanNames }): Promise<void>
  /** Lifts the limit of a user who is gone: the id may be given to another. */
  lift(user: { uid: number }): Promise<void>
}

const title = 'The space a service takes on the disk is limited to its plan'

export interface QuotaOptions {
  dataDir: string
  isRoot: boolean
  onError(error: unknown): void
}

export async function openDiskQuota({ dataDir, isRoot, onError }: QuotaOptions): Promise<DiskQuota> {
  const mount = mountOf(readFileSync('/proc/self/mountinfo', 'utf8'), realpathSync(dataDir))
  const reason = mount === undefined ? 'the file system of the data directory is not known' : await problemWith(mount, isRoot)
  if (mount === undefined || reason !== undefined) return noQuota(reason ?? '')
  const limits = new Map<number, number>()
  return {
    guarantee: { id: 'disk-limit', title, holds: true },
    async limit({ uid, settings }) {
      const limitMb = quotaMb(settings)
      if (limits.get(uid) === limitMb) return
      limits.set(uid, limitMb)
      await runSystemTool(setQuotaArgv(uid, limitMb, mount)).catch((error) => {
        limits.delete(uid)
        onError(error)
      })
    },
    async lift({ uid }) {
      limits.delete(uid)
      await runSystemTool(clearQuotaArgv(uid, mount)).catch(onError)
    },
  }
}

export const noQuota = (reason: string): DiskQuota => ({
  guarantee: { id: 'disk-limit', title, holds: false, reason },
  limit: async () => {},
  lift: async () => {},
})

async function problemWith(mount: NonNullable<ReturnType<typeof mountOf>>, isRoot: boolean): Promise<string | undefined> {
  if (!isRoot) return 'cpd does not run as root, so services run as the same user as cpd; run it as root'
  const state = await stateOf(printStateArgv(mount))
  if (state === undefined) return `the program quotaon is missing: install the package quota. ${quotaAdvice(mount)}`
  return isEnforced(state.stdout) ? undefined : quotaAdvice(mount)
}

async function stateOf(argv: string[]): Promise<RunResult | undefined> {
  try {
    return await runProcess(argv, { env: systemEnv })
  } catch {
    return undefined
  }
}
