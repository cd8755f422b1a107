import { AppError } from '../../../shared/error.ts'
import { isDiskFull } from '../../platform/files/disk-full.ts'

export const PLATFORM_FAILED = 'The platform failed at this step; its own log says why. Try again.'

const MOST_CHARS = 2000

export function wordsFor(error: unknown): string | undefined {
  if (isDiskFull(error)) return 'The disk of the server is full. Free some space, then deploy again.'
  return error instanceof AppError ? error.message.slice(0, MOST_CHARS) : undefined
}
