import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AppError } from '../../../shared/error.ts'
import {
  type AdoptRequest,
  type DescribedSet,
  DescribedSets,
  type ListedStray,
  ListedStrays,
  ServeStatus,
  servePaths,
  type UpgradeRequest,
} from './operations.ts'

const STATUS_TIMEOUT_MS = 5_000
const BACK_UP_TIMEOUT_MS = 120_000
const END_TIMEOUT_MS = 60_000
const BUCKET_TIMEOUT_MS = 600_000

/** @throws AppError `unavailable` when no control plane answers. */
export async function askStatus(socketPath: string): Promise<ServeStatus> {
  return read(ServeStatus, await call(socketPath, 'GET', servePaths.status))
}

export async function askBackUp(socketPath: string, folder: string): Promise<void> {
  await call(socketPath, 'POST', servePaths.backUp, { body: { folder }, timeoutMs: BACK_UP_TIMEOUT_MS })
}

/** Has the control plane take over the upgrade that stands in the journal; it is under way when this returns. */
export async function askUpgrade(socketPath: string, request: UpgradeRequest): Promise<void> {
  await call(socketPath, 'POST', servePaths.upgrade, { body: request })
}

/** What runs though the database does not know it. @throws AppError as `askStatus` does. */
export async function askStrays(socketPath: string): Promise<ListedStray[]> {
  return read(ListedStrays, await call(socketPath, 'GET', servePaths.strays))
}

/** Ends these strays. Returns those that are left, when nothing of the others is. */
export async function askEndStrays(socketPath: string, ids: readonly string[]): Promise<ListedStray[]> {
  return read(ListedStrays, await call(socketPath, 'POST', servePaths.endStrays, { body: { ids }, timeoutMs: END_TIMEOUT_MS }))
}

/** What the bucket of the settings has for a key. @throws AppError as `askStatus` does, and for a bucket that does not answer. */
export async function askDescribed(socketPath: string, key: string): Promise<DescribedSet[]> {
  return read(DescribedSets, await call(socketPath, 'POST', servePaths.described, { body: { key }, timeoutMs: BUCKET_TIMEOUT_MS }))
}

/** Has sets of another server be recovered from here. Returns those. @throws AppError as `askDescribed`. */
export async function askAdopt(socketPath: string, request: AdoptRequest): Promise<DescribedSet[]> {
  return read(DescribedSets, await call(socketPath, 'POST', servePaths.adopt, { body: request, timeoutMs: BUCKET_TIMEOUT_MS }))
}

async function read<S extends TSchema>(schema: S, response: Response): Promise<Static<S>> {
  const value: unknown = await response.json()
  if (Value.Check(schema, value)) return value
  throw new AppError('internal', 'The control plane gave an answer of an unknown shape.')
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
    throw new AppError('unavailable', 'No cpd serve answers on this data directory. Start it, or name its folder with --data.', { cause })
  })
  if (response.ok) return response
  throw new AppError('conflict', (await response.text()) || `The control plane answered ${response.status}.`)
}
