import { type Static, Type } from '@sinclair/typebox'

/** The domain throws codes only; server and cpctl both translate through this table. */
export const errorStatus = {
  bad_request: 400,
  validation_failed: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  head_too_large: 431,
  internal: 500,
  not_configured: 501,
  unavailable: 503,
} as const

export type ErrorCode = keyof typeof errorStatus

export const ErrorDetail = Type.Object({
  path: Type.String({
    description: 'JSON pointer of the offending value',
    examples: ['/serviceDetails/numInstances'],
  }),
  message: Type.String(),
})
export type ErrorDetail = Static<typeof ErrorDetail>

/** The body of every error on every route. `id` is the request id, to be quoted to the operator. */
export const ErrorBody = Type.Object(
  {
    message: Type.String({
      minLength: 1,
      description: 'What went wrong and what to do next',
    }),
    code: Type.Unsafe<ErrorCode>({
      type: 'string',
      enum: Object.keys(errorStatus),
    }),
    id: Type.String({ description: 'Request id, also in X-Request-Id' }),
    details: Type.Optional(Type.Array(ErrorDetail)),
  },
  { $id: 'Error' },
)
export type ErrorBody = Static<typeof ErrorBody>

interface AppErrorOptions {
  details?: ErrorDetail[]
  /** Seconds after which the caller may try again; sent as Retry-After. */
  retryAfterSeconds?: number
  allowedMethods?: readonly string[]
  cause?: unknown
}

/** An error meant for the caller: its message is shown as it stands, so it holds no path, secret or stack. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetail[]
  readonly retryAfterSeconds: number | undefined
  readonly allowedMethods: readonly string[] | undefined

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.details = options.details ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
    this.allowedMethods = options.allowedMethods
  }
}

/** What was thrown, as text: its message where it is an error. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** A refusal of one value, whose JSON pointer is `path`, in a sentence that says what to give instead. */
export const invalidValue = (path: string, message: string): AppError =>
  new AppError('validation_failed', message, { details: [{ path, message }] })
