import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProcessStat, parseStat } from '../../server/engines/process/kernel/proc.ts'
import { recordDirIn } from '../../server/engines/process/records/record.ts'
import type { Paths } from '../../server/platform/paths.ts'

/** The first process of an instance, as the process engine has recorded it. */
export function processOf({ engineState }: Pick<Paths, 'engineState'>, instanceId: string): ProcessStat {
  const process = parseStat(readFileSync(join(recordDirIn(engineState, instanceId), 'process'), 'utf8'))
  if (process === undefined) throw new Error(`${instanceId} does not run`)
  return process
}
