import { constants } from 'node:os'
import { type ErrorBody, type ErrorCode, type ErrorDetail, errorStatus } from '../../shared/error.ts'

export const exitCodes = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

interface CliErrorOptions {
  exitCode?: ExitCode
  hint?: string
  id?: string
  details?: ErrorDetail[]
  cause?: unknown
}

/** Ends the command. `body` is what `--json` prints: the server's own error body where there was one. */
export class CliError extends Error {
  readonly body: ErrorBody
  readonly hint: string | undefined
  readonly exitCode: ExitCode

  constructor(code: ErrorCode, message: string, options: CliErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'CliError'
    this.body = { message, code, id: options.id ?? '', ...(options.details ? { details: options.details } : {}) }
    this.hint = options.hint
    this.exitCode = options.exitCode ?? exitCodes.failed
  }

  get code(): ErrorCode {
    return this.body.code
  }
}

export const usageError = (message: string, hint?: string): CliError =>
  new CliError('bad_request', message, { exitCode: exitCodes.usage, ...(hint === undefined ? {} : { hint }) })

/** A request may go again when a server starts anew, or is asked too often. */
export const isPassing = (error: unknown): boolean =>
  error instanceof CliError && (error.code === 'unavailable' || error.code === 'rate_limited')

/** The user pressed Ctrl-C. Nothing more is printed. */
export class Interrupted extends Error {
  constructor() {
    super('Interrupted')
    this.name = 'Interrupted'
  }
}

/** Shells say 130 for SIGINT. */
export const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal]

const isKnown = (signal: string | null): signal is NodeJS.Signals => signal !== null && Object.hasOwn(constants.signals, signal)

/** A command that was run on the server has ended: we end as it did, and print nothing more. */
export class RemoteExit extends Error {
  readonly exitCode: number

  constructor({ exitCode, signal }: { exitCode: number | null; signal: string | null }) {
    super('The command has ended')
    this.name = 'RemoteExit'
    this.exitCode = exitCode ?? (isKnown(signal) ? exitCodeOf(signal) : exitCodes.failed)
  }
}

const hints: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'Run cpctl login, or set CPCTL_TOKEN to a valid API key.',
  rate_limited: 'Wait a moment and try again.',
}

export function errorOfResponse(status: number, body: unknown, retryAfter: string | null): CliError {
  if (!isErrorBody(body))
    return new CliError(codeOfStatus(status), `The server answered ${status} without an error body.`, { hint: notOurs })
  const hint = body.code === 'rate_limited' && retryAfter !== null ? `Try again in ${retryAfter} s.` : hints[body.code]
  return new CliError(body.code, body.message, {
    id: body.id,
    ...(body.details ? { details: body.details } : {}),
    ...(hint === undefined ? {} : { hint }),
  })
}

const notOurs = 'Check that the URL is that of a cpd server: it is set by CPCTL_URL or cpctl login --url.'

const codeOfStatus = (status: number): ErrorCode =>
  (Object.keys(errorStatus) as ErrorCode[]).find((code) => errorStatus[code] === status) ?? (status >= 500 ? 'internal' : 'bad_request')

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null) return false
  const { message, code } = body as Partial<ErrorBody>
  return typeof message === 'string' && typeof code === 'string' && code in errorStatus
}
