import { AppError } from '../../../../shared/error.ts'
import type { Paths } from '../../../platform/paths.ts'
import { spacesOf } from '../../../runtime/space/reserve.ts'

const GIB = 1024 ** 3

const reserveOf = (total: number): number => Math.min(GIB, total / 20)

/** Whether so many bytes fit beside what is kept free. A file system that makes room as files come tells of none, and has it. */
export function hasRoomFor({ backups }: Pick<Paths, 'backups'>, bytes: number): boolean {
  const { total, free } = spacesOf(backups).bytes
  return total === 0 || free - bytes > reserveOf(total)
}

/** @throws AppError unavailable saying how much is missing. */
export function requireRoom(paths: Pick<Paths, 'backups'>, bytes: number): void {
  if (hasRoomFor(paths, bytes)) return
  const { total, free } = spacesOf(paths.backups).bytes
  const gib = (size: number) => `${(size / GIB).toFixed(1)} GiB`
  const missing = bytes + reserveOf(total) - free
  throw new AppError(
    'unavailable',
    `The disk of the server has no room for this: it takes ${gib(bytes)}, ${gib(free)} are free, and ${gib(reserveOf(total))} are to stay so. Make ${gib(missing)} of room, then try again.`,
  )
}
