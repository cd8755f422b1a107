import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { messageOf } from '../../shared/error.ts'
import type { PostgresExport } from '../../shared/postgres-transfer.ts'
import { CliError, isPassing } from '../base/error.ts'
import { sleep } from '../base/sleep.ts'
import type { Context } from '../session/context.ts'

interface Download {
  made: PostgresExport
  path: string
  file: string
}

const RETRIES = 20
const RETRY_MS = 1000
const STALL_MS = 60_000

/**
 * Downloads an export to a file, going on where it was cut off, also by an earlier call. What is complete is compared with what the server said of
 * it, and put in place then. @throws CliError, Interrupted on Ctrl-C.
 */
export async function download(context: Context, { made, path, file }: Download): Promise<void> {
  const part = `${file}.part`
  for (let retries = 0; ; retries++) {
    try {
      await fetchRest(context, { made, path, file: part })
      break
    } catch (error) {
      context.io.interrupted.throwIfAborted()
      if (error instanceof CliError && !isPassing(error)) throw error
      if (retries >= RETRIES)
        throw new CliError('unavailable', `The download was cut off: ${messageOf(error)}`, { hint: 'Try again: it goes on there.' })
      await sleep(RETRY_MS, context.io.interrupted)
    }
  }
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(part)) hash.update(chunk as Uint8Array)
  if (made.sha256 !== undefined && hash.digest('hex') !== made.sha256) {
    await rm(part, { force: true })
    throw new CliError('unavailable', 'What was downloaded is not what the server has. Try again.')
  }
  await rename(part, file)
}

async function fetchRest(context: Context, { made, path, file }: Download): Promise<void> {
  const have = await stat(file).then(
    ({ size }) => size,
    () => 0,
  )
  if (have === made.sizeBytes) return
  const { url, headers } = await context.client.target()
  const stalled = new AbortController()
  let timer = setTimeout(() => stalled.abort(), STALL_MS)
  const response = await fetch(url + path, {
    headers: { ...headers, ...(have > 0 && { range: `bytes=${have}-`, 'if-range': `"${made.sha256}"` }) },
    redirect: 'manual',
    signal: AbortSignal.any([context.io.interrupted, stalled.signal]),
  })
  if (!response.ok || response.body === null) throw new CliError('unavailable', `The server answered with the status ${response.status}.`)
  const isRest = response.status === 206
  const handle = await open(file, isRest ? 'a' : 'w', 0o600)
  try {
    for await (const chunk of response.body) {
      clearTimeout(timer)
      timer = setTimeout(() => stalled.abort(), STALL_MS)
      await handle.writeFile(chunk)
    }
    const { size } = await handle.stat()
    if (size < (made.sizeBytes ?? 0)) throw new CliError('unavailable', 'The line was cut.')
  } finally {
    clearTimeout(timer)
    await handle.close()
  }
}
