import { afterAll, beforeAll, expect, test } from 'vitest'
import { AcmeProblem } from '../../../../../server/edge/certificates/acme/problem.ts'
import { converse, fetchAdapter, retryAfterOf } from '../../../../../server/edge/certificates/acme/transport.ts'
import { makeCertificate, type TestCertificate } from '../../../../support/certificates.ts'

let server: Bun.Server<undefined>
let own: TestCertificate
let directory: string
/** How the server answers. */
let answer: () => Response | Promise<Response>

beforeAll(async () => {
  own = await makeCertificate({ names: ['localhost'] })
  const tls = { cert: own.certificate, key: own.privateKey }
  server = Bun.serve({ hostname: '127.0.0.1', port: 0, tls, fetch: () => answer() })
  directory = `https://localhost:${server.port}/dir`
})

afterAll(() => server.stop(true))

/** One request as the library makes it. */
async function ask(options: { root?: string | undefined; timeoutMs?: number; signal?: AbortSignal; url?: string } = {}): Promise<string> {
  const { axios } = await import('acme-client')
  const { root = own.certificate, timeoutMs = 30_000, signal = new AbortController().signal, url = directory } = options
  const conversation = { directory, root, timeoutMs, signal }
  return await converse(conversation, async () => String((await axios.request({ url, method: 'get', adapter: fetchAdapter })).data))
}

async function problem(work: Promise<unknown>): Promise<[string, string]> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof AcmeProblem)) throw new Error(`It was no problem but ${error}`)
  return [error.type, error.message]
}

test('an answer arrives where the root is the one that is set', async () => {
  answer = () => new Response('hello')
  expect(await ask()).toBe('hello')
})

test('a server whose certificate leads to another root is refused', async () => {
  answer = () => new Response('hello')
  const other = await makeCertificate({ names: ['localhost'] })
  expect((await problem(ask({ root: other.certificate })))[0]).toBe('unreachable')
})

test('a server whose certificate is for another name is refused, though its root is the one that is set', async () => {
  const url = `https://127.0.0.1:${server.port}/dir`
  const { axios } = await import('acme-client')
  const conversation = { directory: url, root: own.certificate, signal: new AbortController().signal }
  const asked = converse(conversation, async () => axios.request({ url, method: 'get', adapter: fetchAdapter }))
  expect((await problem(asked))[0]).toBe('unreachable')
})

test('a request ends at its time limit, before the answer and in the middle of it', async () => {
  answer = () => new Promise<Response>(() => {})
  expect(await problem(ask({ timeoutMs: 100 }))).toEqual(['unreachable', 'it gave no answer in time'])
  answer = () => new Response(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{')) }))
  expect(await problem(ask({ timeoutMs: 100 }))).toEqual(['unreachable', 'it gave no answer in time'])
})

test('a request ends when its work is cancelled, with the reason of that', async () => {
  answer = () => new Promise<Response>(() => {})
  const cancel = new AbortController()
  const asked = ask({ signal: cancel.signal })
  cancel.abort(new Error('not wanted'))
  await expect(asked).rejects.toThrow('not wanted')
})

test('a refusal keeps its type, its words and how long to wait', async () => {
  const body = { type: 'urn:ietf:params:acme:error:rateLimited', detail: 'slow down' }
  answer = () => Response.json(body, { status: 429, headers: { 'retry-after': '90' } })
  const error = await ask().catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ type: 'rateLimited', message: 'slow down', retryAfterMs: 90_000 })
})

test('how long to wait is read in seconds or as a date, and nonsense is no wait', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const read = (value: string) => retryAfterOf(new Headers({ 'retry-after': value }), now)
  expect(['120', 'Thu, 01 Jan 2026 00:01:00 GMT', 'Wed, 31 Dec 2025 00:00:00 GMT', 'soon', '-5'].map(read)).toEqual([
    120_000,
    60_000,
    undefined,
    undefined,
    undefined,
  ])
})
