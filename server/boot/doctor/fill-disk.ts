import { readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { mountOf } from '../../engines/process/quota/mounts.ts'
import { clearQuotaArgv, setQuotaArgv } from '../../engines/process/quota/quota-plan.ts'
import { runProcess } from '../../platform/process/spawn.ts'
import { systemEnv } from '../../platform/process/system-tools.ts'
import { diskFiller } from './apps.ts'
import type { TryResult } from './red-team/attempt.ts'
import type { World } from './sandbox-world.ts'

const MIB = 1024 * 1024
const LIMIT_MB = 8
const LIMIT = { mb: LIMIT_MB, files: 1024 }
const TIMEOUT_MS = 20_000

/** Has an app write more than its user may, on a file system that is known to limit users. The limit is lifted afterwards. */
export async function tryToFillDisk(world: World, dir: string): Promise<TryResult | undefined> {
  const mount = mountOf(readFileSync('/proc/self/mountinfo', 'utf8'), realpathSync(dir))
  if (mount === undefined) return undefined
  const uid = world.nextUid()
  const { exitCode } = await runProcess(setQuotaArgv(uid, LIMIT, mount), { env: systemEnv })
  if (exitCode !== 0) return undefined
  try {
    const app = await world.start(diskFiller(LIMIT_MB * 2))
    await Promise.race([app.ended, Bun.sleep(TIMEOUT_MS)])
    const writtenMb = (statSync(join(app.root, 'tmp', 'full'), { throwIfNoEntry: false })?.size ?? 0) / MIB
    await app.remove()
    const succeeded = writtenMb > LIMIT_MB ? [`wrote ${writtenMb} MiB of ${LIMIT_MB}`] : []
    return { id: 'fill-disk', title: 'takes more of the disk than it may', guarantee: 'disk-limit', attempted: 1, succeeded }
  } finally {
    await runProcess(clearQuotaArgv(uid, mount), { env: systemEnv })
  }
}
