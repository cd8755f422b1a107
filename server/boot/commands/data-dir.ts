import { existsSync } from 'node:fs'
import { AppError } from '../../../shared/error.ts'
import type { Paths } from '../../platform/paths.ts'

/** For commands on what a `cpd serve` has left. @throws AppError `not_found` where none has ever run. */
export function requireDataDir({ run, data }: Pick<Paths, 'run' | 'data'>): void {
  if (existsSync(run)) return
  throw new AppError('not_found', `${data} is not the data directory of a cpd. Give the one that it serves with --data.`)
}
