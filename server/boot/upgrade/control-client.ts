import { Value } from '@sinclair/typebox/value'
import { AppError } from '../../../shared/error.ts'
import { ServeStatus, servePaths, type UpgradeRequest } from './control.ts'

const STATUS_TIMEOUT_MS = 5_000
const BACK_UP_TIMEOUT_MS = 120_000

/** @throws AppError `unavailable` when no control plane answers. */
export async function askStatus(socketPath: string): Promise<ServeStatus> {
  const value: unknown = await (await call(socketPath, 'GET', servePaths.status)).json()
  if (Value.Check(ServeStatus, value)) return value
  throw new AppError('internal', 'The control plane gave an answer of an unknown shape.')
}

export async function askBackUp(socketPath: string, folder: string): Promise<void> {
  await call(socketPath, 'POST', servePaths.backUp, { body: { folder }, timeoutMs: BACK_UP_TIMEOUT_MS })
}

/** Has the control plane take over the upgrade that stands in the journal; it is under way when this returns. */
export async function askUpgrade(socketPath: string, request: UpgradeRequest): Promise<void> {
  await call(socketPath, 'POST', servePaths.upgrade, { body: request })
}

interface Call {
  body?: object
  timeoutMs?: number
}

async function call(unix: string, method: string, path: string, { body, timeoutMs = STATUS_TIMEOUT_MS }: Call = {}): Promise<Response> {
  const response = await fetch(`http://serve${path}`, {
    unix,
    method,
    keepalive: false,
    signal: AbortSignal.timeout(timeoutMs),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((cause) => {
    throw new AppError('unavailable', 'No control plane answers on its socket.', { cause })
  })
  if (response.ok) return response
  throw new AppError('conflict', (await response.text()) || `The control plane answered ${response.status}.`)
}
