import { messageOf } from '../../../shared/error.ts'

const problems: Record<string, string> = {
  EADDRINUSE: 'another program uses that port. Stop it or choose another address',
  EACCES: 'ports below 1024 need root. Start as root or choose a higher port',
  EPERM: 'ports below 1024 need root. Start as root or choose a higher port',
  EADDRNOTAVAIL: 'this machine has no such address. Choose one of its own',
}

/** Why an address could not be listened at, and what to do about it, as the end of a sentence; `flag` sets the address. */
export function listenProblem(cause: unknown, flag: string): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const known = problems[code]
  return known === undefined ? messageOf(cause) : `${known} (${flag}).`
}
