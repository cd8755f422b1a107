import { isOlder } from './own.ts'
import type { Program, ProgramKind } from './port.ts'

/** The newest releases when this version was made, by major version. Those before them have faults that are known; see postgresql.org/support/security. */
const newest: Readonly<Record<ProgramKind, Readonly<Record<string, string>>>> = {
  postgres: { 14: '14.23', 15: '15.19', 16: '16.15', 17: '17.11', 18: '18.6' },
  valkey: { 9: '9.1.2' },
}

/** The release that should be in the place of a program; undefined where it was the newest, or nothing is known of it. */
export function newerOf({ kind, major, version }: Pick<Program, 'kind' | 'major' | 'version'>): string | undefined {
  const known = newest[kind][major]
  return known !== undefined && isOlder(version, known) ? known : undefined
}
