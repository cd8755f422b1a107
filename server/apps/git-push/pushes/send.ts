import { AppError } from '../../../../shared/error.ts'
import type { SpawnedProcess } from '../../../platform/process/spawn.ts'
import { type PushHead, writeHead } from '../protocol/commands.ts'
import { type Report, readReport } from '../protocol/report.ts'
import { splitBands } from '../protocol/side-band.ts'
import type { Repository } from '../repository/command.ts'
import { bytesOf, startGit } from '../repository/run.ts'

const MIB = 1024 * 1024
const MAX_ANSWER_BYTES = MIB
/** Whoever sends more than may be taken hears why, unless it is far more. */
export const MAX_DISCARDED_BYTES = 64 * MIB

export interface Objects {
  head: PushHead
  rest: Uint8Array
  body: AsyncIterator<Uint8Array>
  maxBytes: number
  signal: AbortSignal
}

/** Has git take the objects of a push and point these refs to them. What it does not take is gone with it. */
export async function sendToGit(
  repository: Repository,
  { head, rest, body, maxBytes, signal }: Objects,
): Promise<Report & { progress: Buffer }> {
  const call = {
    args: ['receive-pack', '--stateless-rpc', '.'],
    settings: { 'receive.maxInputSize': String(maxBytes) },
    maxFileBytes: maxBytes,
  }
  const { process, ended } = startGit(repository, call, signal)
  const answer = bytesOf(process.stdout, MAX_ANSWER_BYTES)
  const problem = await feed(process.stdin, { first: [writeHead(head), rest], body })
  const [bytes, { complaint }] = await Promise.all([answer, ended])
  signal.throwIfAborted()
  if (problem !== undefined) throw problem
  const split = splitBands(bytes)
  const report = readReport(split.answer)
  return { ...report, progress: split.progress.length > 0 ? split.progress : Buffer.from(complaint) }
}

async function feed(
  stdin: SpawnedProcess['stdin'],
  { first, body }: { first: readonly Uint8Array[]; body: AsyncIterator<Uint8Array> },
): Promise<AppError | undefined> {
  try {
    for (const bytes of first) await stdin?.write(bytes)
    for (let part = await body.next(); !part.done; part = await body.next()) {
      await stdin?.write(part.value)
      await stdin?.flush()
    }
    await stdin?.end()
    return undefined
  } catch (error) {
    // Git has said no before the end; what it says is told when the client has sent the rest.
    if (error instanceof Error && 'code' in error && error.code === 'EPIPE') await discard(body)
    else await Promise.resolve(stdin?.end()).catch(() => {})
    return error instanceof AppError ? error : undefined
  }
}

export async function discard(body: AsyncIterator<Uint8Array>): Promise<void> {
  let count = 0
  for (let part = await body.next(); !part.done; part = await body.next()) {
    count += part.value.length
    if (count > MAX_DISCARDED_BYTES)
      throw new AppError('payload_too_large', 'This push is refused, and far larger than what is taken here.')
  }
}
