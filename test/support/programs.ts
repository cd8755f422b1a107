import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../server/boot/settings/config.ts'
import { embedded } from '../../server/runtime/programs/embedded.ts'
import type { Programs } from '../../server/runtime/programs/port.ts'
import { openPrograms } from '../../server/runtime/programs/programs.ts'

const unpacked = join(import.meta.dirname, '../../node_modules/.cache/programs')

/** The programs of databases as a platform with these settings has them, unpacked once for all tests instead of into each data directory. */
export async function sharedPrograms(
  config: Partial<Pick<Config, 'CP_POSTGRES_DIR' | 'CP_VALKEY_PROGRAM' | 'CP_PGBOUNCER_PROGRAM'>> = {},
): Promise<Programs> {
  // An ordinary user may not, and needs none in the tests that run as one.
  await mkdir(unpacked, { recursive: true }).catch(() => undefined)
  return await openPrograms({
    folder: unpacked,
    embedded,
    postgresDirs: config.CP_POSTGRES_DIR ?? [],
    valkey: config.CP_VALKEY_PROGRAM,
    pooler: config.CP_PGBOUNCER_PROGRAM,
    // Other workers may be unpacking beside us.
    isOnTrial: true,
    onProblem(problem) {
      throw new Error(problem)
    },
  })
}
