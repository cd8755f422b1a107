import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ReceivedUpload, receiveUpload, sweepUploads } from '../../../../server/apps/sources/receive.ts'
import { AppError } from '../../../../shared/error.ts'
import { tarGz, zip } from '../../../support/archives.ts'

const MAX_BYTES = 1024 * 1024

let uploadsDir: string
let server: ReturnType<typeof Bun.serve>
let outcome: PromiseWithResolvers<ReceivedUpload>

beforeEach(async () => {
  uploadsDir = join(await mkdtemp(join(tmpdir(), 'receive-')), 'uploads')
  await sweepUploads(uploadsDir, Date.now() + 1000)
  awaitNext()
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: serve })
})
afterEach(async () => {
  await server.stop(true)
  await rm(join(uploadsDir, '..'), { recursive: true, force: true })
})

function awaitNext(): void {
  outcome = Promise.withResolvers()
  outcome.promise.catch(() => {})
}

async function serve(request: Request): Promise<Response> {
  const length = request.headers.get('content-length')
  const received = receiveUpload({
    body: request.body ?? new Blob([]).stream(),
    contentType: request.headers.get('content-type') ?? '',
    maxBytes: MAX_BYTES,
    uploadsDir,
    signal: request.signal,
    ...(length === null ? {} : { expectedBytes: Number(length) }),
  })
  received.then(outcome.resolve, outcome.reject)
  return received.then(
    () => new Response('ok'),
    () => new Response('refused', { status: 400 }),
  )
}

const post = (contentType: string, body: Blob | FormData | Uint8Array<ArrayBuffer>) =>
  fetch(server.url, { method: 'POST', body, ...(contentType === '' ? {} : { headers: { 'content-type': contentType } }) })

async function refusal(): Promise<string> {
  const error = await outcome.promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(AppError)
  expect(await readdir(uploadsDir)).toEqual([])
  return (error as AppError).code
}

const bytesOf = (buffer: Buffer) => new Uint8Array(buffer)
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('an upload', () => {
  test.each(['application/gzip', 'application/x-gzip', 'Application/GZIP; charset=binary'])(
    'of %s is stored, hashed and private',
    async (type) => {
      const bytes = bytesOf(await tarGz([{ name: 'a', content: crypto.getRandomValues(new Uint8Array(60_000)) }]))
      await post(type, bytes)
      const upload = await outcome.promise
      expect(upload).toMatchObject({ sha256: sha256(bytes), sizeBytes: bytes.length, format: 'tar.gz' })
      expect(new Uint8Array(await readFile(upload.path))).toEqual(bytes)
      expect((await stat(upload.path)).mode & 0o777).toBe(0o600)
    },
  )

  test('of a zip is recognised', async () => {
    await post('application/zip', bytesOf(zip([{ name: 'a', content: 'x' }])))
    expect((await outcome.promise).format).toBe('zip')
  })

  test.each([
    ['tar.gz', 0],
    ['zip', 1],
  ] as const)('as a form holding a %s is stored whole', async (format, index) => {
    const bytes = [
      bytesOf(await tarGz([{ name: 'a', content: crypto.getRandomValues(new Uint8Array(500_000)) }])),
      bytesOf(zip([{ name: 'a', content: 'x' }])),
    ][index]
    const form = new FormData()
    form.set('note', 'hello')
    form.set('file', new File([bytes ?? ''], 'source.bin'))
    await post('', form)
    expect(await outcome.promise).toMatchObject({ sha256: sha256(bytes ?? new Uint8Array()), format })
  })

  test.each([
    ['of another type', 'text/plain', 'x'],
    ['without a type', 'constructor', 'x'],
    ['whose bytes are a zip but whose type says gzip', 'application/gzip', 'PK\u0003\u0004'],
    ['whose bytes are neither', 'application/zip', 'hello world'],
  ])('%s is an unsupported media type', async (_, type, body) => {
    await post(type, new Blob([body], { type }))
    expect(await refusal()).toBe('unsupported_media_type')
  })

  test('over the limit is too large, raw or as a form', async () => {
    const bytes = new Uint8Array(MAX_BYTES + 1)
    bytes.set([0x1f, 0x8b])
    await post('application/gzip', bytes)
    expect(await refusal()).toBe('payload_too_large')
    awaitNext()
    const form = new FormData()
    form.set('file', new File([bytes], 'source.tar.gz'))
    await post('', form)
    expect(await refusal()).toBe('payload_too_large')
  })

  test('without a byte is refused', async () => {
    await post('application/gzip', new Uint8Array())
    expect(await refusal()).toBe('bad_request')
  })

  test.each([
    ['no file', (form: FormData) => form.set('note', 'x')],
    ['a file in another field', (form: FormData) => form.set('archive', new File(['x'], 'x'))],
    [
      'two files',
      (form: FormData) => {
        form.append('file', new File(['\u001f\u008b'], 'x'))
        form.append('file', new File(['\u001f\u008b'], 'y'))
      },
    ],
  ])('as a form with %s is refused', async (_, fill) => {
    const form = new FormData()
    fill(form)
    await post('', form)
    expect(await refusal()).toBe('bad_request')
  })

  test('as a form without a boundary or without its end is refused', async () => {
    await post('multipart/form-data', new Blob(['x']))
    expect(await refusal()).toBe('bad_request')
    awaitNext()
    const part = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n\u001f\u008b and then nothing'
    await post('multipart/form-data; boundary=b', new Blob([part]))
    expect(await refusal()).toBe('bad_request')
  })

  test.each(['application/gzip', 'multipart/form-data; boundary=b'])('of %s cut off in the middle leaves no file', async (type) => {
    const socket = connect(server.port ?? 0, '127.0.0.1')
    const part = type.startsWith('multipart') ? '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n' : ''
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\ncontent-length: 100000\r\n\r\n${part}\u001f\u008b half`)
    while ((await readdir(uploadsDir)).length === 0) await Bun.sleep(5)
    socket.destroy()
    expect(await refusal()).toBe('bad_request')
  })

  test('that ends before its announced length is refused', async () => {
    const body = new Blob([new Uint8Array([0x1f, 0x8b, 1])]).stream()
    const upload = receiveUpload({ body, contentType: 'application/gzip', maxBytes: 10, uploadsDir, expectedBytes: 4 })
    await expect(upload).rejects.toMatchObject({ code: 'bad_request' })
    expect(await readdir(uploadsDir)).toEqual([])
  })
})

test('a sweep removes what uploads left and keeps what is stored', async () => {
  await writeFile(join(uploadsDir, 'incoming-x'), 'half')
  await writeFile(join(uploadsDir, 'ab12'), 'whole')
  await sweepUploads(uploadsDir, Date.now() + 1000)
  expect(await readdir(uploadsDir)).toEqual(['ab12'])
})

test('a sweep leaves an upload alone that has begun since', async () => {
  await writeFile(join(uploadsDir, 'incoming-x'), 'half')
  await sweepUploads(uploadsDir, Date.now() - 60_000)
  expect(await readdir(uploadsDir)).toContain('incoming-x')
})
