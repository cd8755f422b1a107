import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AppError, type ErrorCode, errorStatus } from '../../../shared/error.ts'
import { ControlError, PUBLISHER_HEADER } from './protocol.ts'

export interface SocketCall {
  socketPath: string
  publisher: string
  method: string
  path: string
  body: unknown
  timeoutMs: number
  signal?: AbortSignal
}

/** @throws AppError `unavailable` when nobody answers, else the ingress's own. */
export async function callSocket({ socketPath, publisher, method, path, body, timeoutMs, signal }: SocketCall): Promise<Response> {
  const response = await fetch(`http://ingress${path}`, {
    unix: socketPath,
    method,
    headers: { [PUBLISHER_HEADER]: publisher },
    // One connection a call: a pooled one may belong to an ingress that has been replaced since.
    keepalive: false,
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])]),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((cause) => {
    throw new AppError('unavailable', 'The ingress does not answer on its control socket.', { cause })
  })
  if (!response.ok) throw await errorOf(response)
  return response
}

const goneCodes = ['ENOENT', 'ECONNREFUSED', 'ECONNRESET']

/** An ingress that has ended has nothing in flight. */
export function unlessGone(error: unknown): undefined {
  const cause = error instanceof AppError ? error.cause : undefined
  if (cause instanceof Error && 'code' in cause && goneCodes.includes(String(cause.code))) return undefined
  throw error
}

export async function read<T extends TSchema>(schema: T, response: Response): Promise<Static<T>> {
  const value: unknown = await response.json()
  if (Value.Check(schema, value)) return value
  throw new AppError('internal', `The ingress gave an answer of an unknown shape to ${response.url}`)
}

async function errorOf(response: Response): Promise<AppError> {
  const value: unknown = await response.json().catch(() => undefined)
  if (!Value.Check(ControlError, value)) return new AppError('internal', `The ingress answered ${response.status}`)
  return new AppError(isErrorCode(value.code) ? value.code : 'internal', value.message)
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorStatus, code)
}
