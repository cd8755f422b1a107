import { AppError } from '../../../shared/error.ts'

export interface ExtractLimits {
  maxBytes: number
  maxFiles: number
  /** Unpacked bytes for each byte of the archive, looked at from `RATIO_FLOOR_BYTES` on. */
  maxRatio: number
  maxPathBytes: number
  /** Bytes of all paths and link targets together: they are held in memory until the last one is known. */
  maxNameBytes: number
  maxDepth: number
}

export const DEFAULT_EXTRACT_LIMITS: ExtractLimits = {
  maxBytes: 2 * 1024 ** 3,
  maxFiles: 100_000,
  maxRatio: 100,
  maxPathBytes: 1024,
  maxNameBytes: 32 * 1024 * 1024,
  maxDepth: 64,
}

export const RATIO_FLOOR_BYTES = 16 * 1024 * 1024

const MAX_SEGMENT_BYTES = 255
const SHOWN_NAME_LENGTH = 80

export function refuseEntry(name: string, reason: string): AppError {
  return new AppError('bad_request', `The archive was refused: ${showName(name)} ${reason}`)
}

export function refuseArchive(reason: string, cause?: unknown): AppError {
  return new AppError('bad_request', `The archive was refused: ${reason}`, { cause })
}

function showName(name: string): string {
  const visible = name.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029"]/gu, '?')
  const short = visible.length > SHOWN_NAME_LENGTH ? `${visible.slice(0, SHOWN_NAME_LENGTH)}…` : visible
  return `"${short}"`
}

/** @throws AppError bad_request for a path that is absolute, climbs, is not portable or is too long or deep. */
export function parseEntryPath(name: string, limits: Pick<ExtractLimits, 'maxPathBytes' | 'maxDepth'>): string[] {
  if (name === '') throw refuseEntry(name, 'is an empty name')
  if (/\p{Cc}/u.test(name)) throw refuseEntry(name, 'holds a control character')
  if (name.includes('\\')) throw refuseEntry(name, 'holds a backslash; pack the archive with forward slashes')
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name)) throw refuseEntry(name, 'is an absolute path; pack the archive with relative paths')
  if (Buffer.byteLength(name) > limits.maxPathBytes) throw refuseEntry(name, `is longer than ${limits.maxPathBytes} bytes`)
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments.includes('..')) throw refuseEntry(name, 'climbs with ".."')
  if (segments.some((segment) => Buffer.byteLength(segment) > MAX_SEGMENT_BYTES))
    throw refuseEntry(name, 'holds a file name over 255 bytes')
  if (segments.length > limits.maxDepth) throw refuseEntry(name, `is deeper than ${limits.maxDepth} folders`)
  return segments
}

const SET_ID_BITS = 0o6000
const EXECUTE_BITS = 0o111

export function fileMode(name: string, mode: number): number {
  if ((mode & SET_ID_BITS) !== 0) throw refuseEntry(name, 'is set-user-id or set-group-id')
  return (mode & EXECUTE_BITS) === 0 ? 0o644 : 0o755
}
