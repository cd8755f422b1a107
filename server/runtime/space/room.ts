import { AppError } from '../../../shared/error.ts'
import type { Paths } from '../../platform/paths.ts'
import type { RuntimeSettings } from '../settings.ts'
import { reserveOf, type Spaces, spacesOf, type Unit } from './reserve.ts'

interface Given {
  paths: Pick<Paths, 'data'>
  config: Pick<RuntimeSettings, 'CP_DISK_RESERVE_MB'>
}

export function roomOf({ paths, config }: Given): Record<Unit, number> {
  const spaces: Spaces = spacesOf(paths.data)
  const reserve = reserveOf(spaces, config.CP_DISK_RESERVE_MB)
  const files = spaces.files.total === 0 ? Number.POSITIVE_INFINITY : spaces.files.free - reserve.files
  return { bytes: spaces.bytes.free - reserve.bytes, files }
}

export interface Need {
  what: string
  advice: string
  bytes?: number | undefined
}

/** @throws AppError unavailable when it would take of the reserve. */
export function requireRoom(context: Given, { what, advice, bytes = 0 }: Need): void {
  const room = roomOf(context)
  if (room.bytes > bytes && room.files > 0) return
  const short = room.bytes > bytes ? ' (too many files are on it)' : ''
  throw new AppError('unavailable', `There is no room for ${what} on the server's disk${short}. ${advice}`)
}

const LOOK_MS = 100

/** Does something that takes space, and gives it up when that comes to the server's reserve. @throws AppError unavailable then. */
export async function whileThereIsRoom<T>(context: Given, need: Need, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  requireRoom(context, need)
  const short = new AbortController()
  const timer = setInterval(() => {
    try {
      requireRoom(context, { ...need, bytes: 0 })
    } catch (error) {
      short.abort(error)
    }
  }, LOOK_MS)
  try {
    return await act(short.signal)
  } finally {
    clearInterval(timer)
  }
}
