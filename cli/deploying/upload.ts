import type { DeployPlan, DeployPlanQuery } from '../../shared/deploy-plan.ts'
import type { StreamUpload } from '../api/client.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import type { SourceFile } from '../source/files.ts'
import { packSource } from '../source/pack.ts'
import { remedyFor, requireFit } from './fit.ts'
import { type Progress, uploadProgress } from './progress.ts'

/** How long the server may take nothing of the upload, and how long it may check what it got, in milliseconds. */
export const STALL_MS = 60_000
export const CHECK_MS = 300_000

interface Upload {
  serviceId: string
  files: readonly SourceFile[]
}

const hint = 'The service was suspended meanwhile: resume it, then run cpctl deploys create.'

/** Sends the files as a tar.gz and starts a deploy of them. @returns the deploy's id. */
export async function uploadSource(context: Context, { serviceId, files }: Upload): Promise<string> {
  const { deployId } = await sendFiles(context, files, (sending) =>
    context.client.upload('uploadSource', { params: { serviceId }, query: { deploy: 'true' }, ...sending }),
  )
  if (deployId === undefined) throw new CliError('internal', 'The server took the source and started no deploy of it.', { hint })
  return deployId
}

export const planOf = (context: Context, { query, files }: { query: DeployPlanQuery; files: readonly SourceFile[] }): Promise<DeployPlan> =>
  sendFiles(context, files, (sending) => context.client.upload('planDeploy', { params: {}, query, ...sending }))

async function sendFiles<T>(
  context: Context,
  files: readonly SourceFile[],
  send: (sending: Pick<StreamUpload, 'contentType' | 'signal' | 'open'>) => Promise<T>,
): Promise<T> {
  await requireFit(context, files)
  const totalBytes = files.reduce((sum, file) => sum + (file.kind === 'file' ? file.sizeBytes : 0), 0)
  const progress = uploadProgress(context, { fileCount: files.length, totalBytes })
  const failure = new AbortController()
  const watchdog = startWatchdog(failure)
  try {
    return await send({
      contentType: 'application/gzip',
      signal: failure.signal,
      open: () => body(files, { progress, failure, watchdog }),
    })
  } catch (error) {
    throw error instanceof CliError && error.code === 'payload_too_large' && error.hint === undefined ? withLargest(error, files) : error
  } finally {
    watchdog.stop()
    progress.end()
  }
}

const withLargest = (cause: CliError, files: readonly SourceFile[]): CliError =>
  new CliError(cause.code, cause.message, { cause, id: cause.body.id, hint: remedyFor(files) })

interface Watchdog {
  feed(): void
  wait(): void
  stop(): void
}

function startWatchdog(failure: AbortController): Watchdog {
  const bark = (message: string) => () => failure.abort(new CliError('unavailable', message, { hint: 'Try again.' }))
  const stalled = bark(`The upload stalled: nothing went out for ${STALL_MS / 1000} s.`)
  let timer = setTimeout(stalled, STALL_MS)
  const reset = (action: () => void, ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(action, ms)
  }
  return {
    feed: () => reset(stalled, STALL_MS),
    wait: () => reset(bark(`The server did not answer the upload within ${CHECK_MS / 1000} s.`), CHECK_MS),
    stop: () => clearTimeout(timer),
  }
}

interface Sending {
  progress: Progress
  failure: AbortController
  watchdog: Watchdog
}

function body(files: readonly SourceFile[], { progress, failure, watchdog }: Sending): ReadableStream<Uint8Array> {
  progress.restart()
  const packed = packSource(files, { onProgress: progress.add, onError: (error) => failure.abort(error) })
  return packed.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        watchdog.feed()
        controller.enqueue(chunk)
      },
      flush: watchdog.wait,
    }),
  )
}
