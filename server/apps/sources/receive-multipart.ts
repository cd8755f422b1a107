import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy } from '@fastify/busboy'
import { AppError } from '../../../shared/error.ts'

const FILE_FIELD = 'file'
const MAX_PARTS = 16
const MAX_FIELD_BYTES = 64 * 1024

/** The bytes of the form field `file`, as they arrive. @throws AppError bad_request when there is not exactly one such file. */
export async function* multipartFile(body: ReadableStream<Uint8Array>, contentType: string): AsyncGenerator<Uint8Array> {
  const form = openForm(contentType)
  const opened = Promise.withResolvers<Readable>()
  opened.promise.catch(() => {})
  let file: Readable | undefined
  form.on('file', (field, stream) => {
    // An error also reaches streams that nobody listens to any more.
    stream.on('error', () => {})
    if (field !== FILE_FIELD || file !== undefined) return void form.destroy(notOneFile())
    file = stream
    opened.resolve(stream)
  })
  const stop = new AbortController()
  const parsed = pipeline(Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]), form, { signal: stop.signal })
  parsed.then(
    () => opened.reject(notOneFile()),
    (error: Error) => {
      opened.reject(error)
      file?.destroy(error)
    },
  )
  try {
    yield* await opened.promise
    await parsed
  } finally {
    // Whoever stops reading early, because the file is too large, must not leave the request half read.
    stop.abort()
  }
}

function notOneFile(): AppError {
  return new AppError('bad_request', `The form must hold exactly one file, in the field "${FILE_FIELD}"`)
}

function openForm(contentType: string): InstanceType<typeof Busboy> {
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits: { parts: MAX_PARTS, fieldSize: MAX_FIELD_BYTES } })
  } catch (cause) {
    throw new AppError('bad_request', 'The Content-Type of the form has no usable boundary', { cause })
  }
}
