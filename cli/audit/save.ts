import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { messageOf } from '../../shared/error.ts'
import { failureOf } from '../api/failure.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import { clean } from '../terminal/text.ts'

/** How long a million entries may take on a slow line. */
const EXPORT_TIMEOUT_MS = 3_600_000

export async function openExport({ client }: Pick<Context, 'client'>): Promise<ReadableStream<Uint8Array>> {
  const { body } = await client.respond('exportAuditLogs', { timeoutMs: EXPORT_TIMEOUT_MS })
  if (body === null) throw new CliError('internal', 'The server answered without the log.')
  return body
}

/** Saves the log to a file, whole or not at all, or writes it to standard output. */
export async function saveExport(context: Context, file: string | undefined): Promise<void> {
  const stream = await openExport(context)
  if (file === undefined) return print(context, stream)
  const temporary = `${file}.part`
  try {
    await pipeline(Readable.fromWeb(stream as never), createWriteStream(temporary, { mode: 0o600 }))
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    if (error instanceof Error && 'syscall' in error)
      throw new CliError('internal', `Cannot write ${file}: ${messageOf(error)}`, { cause: error })
    throw failureOf(error, (await context.client.target()).url)
  }
  if (!context.isJson) context.note(clean`Saved to ${file}. Verify it with cpctl audit verify ${file}.`)
}

async function print({ io }: Context, stream: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder()
  for await (const chunk of stream) io.stdout.write(decoder.decode(chunk, { stream: true }))
}
