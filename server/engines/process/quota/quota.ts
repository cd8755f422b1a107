import { readFileSync, realpathSync } from 'node:fs'
import { type RunResult, runProcess } from '../../../platform/process/spawn.ts'
import { runSystemTool, systemEnv } from '../../../platform/process/system-tools.ts'
import type { Guarantee, SpaceLimit } from '../../port/port.ts'
import { mountOf } from './mounts.ts'
import { clearQuotaArgv, isEnforced, printStateArgv, quotaAdvice, setQuotaArgv } from './quota-plan.ts'

export interface DiskQuota {
  readonly guarantee: Guarantee
  /** Limits a user; without a limit, lifts that of one who is gone, whose id may be given to another. */
  limit(uid: number, limit: SpaceLimit | undefined): Promise<void>
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
  const limits = new Map<number, string>()
  return {
    guarantee: { id: 'disk-limit', title, holds: true },
    async limit(uid, limit) {
      const argv = limit === undefined ? clearQuotaArgv(uid, mount) : setQuotaArgv(uid, limit, mount)
      const command = argv.join(' ')
      if (limits.get(uid) === command) return
      limits.set(uid, command)
      await runSystemTool(argv).catch((error) => {
        limits.delete(uid)
        onError(error)
      })
      if (limit === undefined) limits.delete(uid)
    },
  }
}

export const noQuota = (reason: string): DiskQuota => ({
  guarantee: { id: 'disk-limit', title, holds: false, reason },
  limit: async () => {},
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
