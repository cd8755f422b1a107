import { AppError } from '../../../shared/error.ts'

/** Silence the listener bounds; this is for clients that send a little now and then. */
const LONGEST_BODY_MS = 30 * 60_000

/** The body of a request, unpacked where git has packed it. @throws AppError unsupported_media_type, payload_too_large while it is read. */
export async function* bodyOf(request: Request, { type, maxBytes }: { type: string; maxBytes: number }): AsyncGenerator<Uint8Array> {
  const { body, headers } = request
  if (headers.get('content-type') !== type || body === null)
    throw new AppError('unsupported_media_type', `This is for git, which sends ${type}.`)
  const coding = headers.get('content-encoding') ?? 'identity'
  if (coding !== 'identity' && coding !== 'gzip' && coding !== 'x-gzip')
    throw new AppError('unsupported_media_type', 'Send the body as it is, or packed by gzip.')
  const bytes = coding === 'identity' ? body : body.pipeThrough(new DecompressionStream('gzip'))
  const endsAt = performance.now() + LONGEST_BODY_MS
  let total = 0
  for await (const chunk of bytes) {
    total += chunk.length
    if (total > maxBytes) throw new AppError('payload_too_large', `git sends more than the ${maxBytes} bytes that are taken here.`)
    if (performance.now() > endsAt) throw new AppError('bad_request', 'git has been sending this for too long. Push or fetch less at once.')
    yield chunk
  }
}

/** A stream that asks for the next piece when the one before is taken; `onEnd` is called once, however it ends. */
export function streamOf(pieces: AsyncGenerator<Uint8Array>, onEnd: () => void = () => {}): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next()
          if (!done) return controller.enqueue(value)
          onEnd()
          controller.close()
        } catch (error) {
          onEnd()
          controller.error(error)
        }
      },
      async cancel() {
        onEnd()
        await pieces.return(undefined)
      },
    },
    { highWaterMark: 1 },
  )
}
