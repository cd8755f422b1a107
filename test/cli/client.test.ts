import { afterEach, describe, expect, test } from 'vitest'
import { createClient } from '../../cli/api/client.ts'
import { pathOf } from '../../cli/api/request.ts'
import { operationOf } from '../../shared/operations/all.ts'
import { exampleService, serviceId } from './examples.ts'
import { cpctl } from './terminal.ts'

let stop: () => void = () => undefined
afterEach(() => stop())

/** Answers raw connections in turn: with bytes, with a drop, or never. */
function rawServer(answers: (string | 'drop' | 'silence')[]): { url: string; requests: string[] } {
  const requests: string[] = []
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, data) {
        requests.push(data.toString())
        const answer = answers[Math.min(requests.length, answers.length) - 1]
        if (answer === 'drop') socket.terminate()
        else if (answer !== 'silence') socket.end(answer ?? '')
      },
    },
  })
  stop = () => listener.stop(true)
  return { url: `http://127.0.0.1:${listener.port}`, requests }
}

const reply = (status: string, body: unknown, headers = '') => {
  const text = JSON.stringify(body)
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n${headers}\r\n${text}`
}

const clientOf = (url: string, interrupted = new AbortController().signal) => createClient(async () => ({ url, headers: {} }), interrupted)
const keyOf = (request: string | undefined) => /idempotency-key: (\S+)/i.exec(request ?? '')?.[1]

describe('a connection that drops', () => {
  test('a create is sent again under the same Idempotency-Key', async () => {
    const { url, requests } = rawServer(['drop', reply('201 Created', { service: exampleService() })])
    const { service } = await clientOf(url).call('createService', { body: { type: 'web_service', name: 'web' } })
    expect(service.name).toBe('web')
    expect(requests).toHaveLength(2)
    expect(keyOf(requests[0])).toMatch(/^[0-9a-f-]{36}$/)
    expect(keyOf(requests[1])).toBe(keyOf(requests[0]))
  })

  test('what may happen twice is not sent again', async () => {
    const { url, requests } = rawServer(['drop'])
    const restarting = clientOf(url).call('restartService', { params: { serviceId } })
    await expect(restarting).rejects.toMatchObject({ code: 'unavailable', message: `${url} closed the connection before it answered.` })
    expect(requests).toHaveLength(1)
  })

  test('sending again ends', async () => {
    const { url, requests } = rawServer(['drop'])
    await expect(clientOf(url).call('listServices')).rejects.toMatchObject({ code: 'unavailable' })
    expect(requests).toHaveLength(3)
  })
})

describe('answers', () => {
  test('none in time is told as such', async () => {
    const { url } = rawServer(['silence'])
    const asking = clientOf(url).call('listServices', { timeoutMs: 50 })
    await expect(asking).rejects.toMatchObject({ code: 'unavailable', message: `${url} did not answer in time.` })
  })

  test('Ctrl-C ends a request at once', async () => {
    const { url } = rawServer(['silence'])
    const ctrlC = new AbortController()
    const { Interrupted } = await import('../../cli/base/error.ts')
    const asking = clientOf(url, ctrlC.signal).call('listServices')
    setTimeout(() => ctrlC.abort(new Interrupted()), 20)
    await expect(asking).rejects.toBeInstanceOf(Interrupted)
  })

  test('a redirect is shown, not followed with the credential', async () => {
    const { url, requests } = rawServer([reply('301 Moved', {}, 'location: https://cp.example.com/v1/services\r\n')])
    const { stderr } = await cpctl(['services', 'list'], { env: { CPCTL_URL: url, CPCTL_TOKEN: 'cpk_x' } })
    expect(stderr).toBe(`Error: ${url} redirects to https://cp.example.com.\nUse that address: cpctl login --url https://cp.example.com\n`)
    expect(requests).toHaveLength(1)
  })

  test('too many requests says when to try again', async () => {
    const body = { message: 'Too many requests.', code: 'rate_limited', id: 'req-1' }
    const { url } = rawServer([reply('429 Too Many Requests', body, 'retry-after: 7\r\n')])
    await expect(clientOf(url).call('listServices')).rejects.toMatchObject({ code: 'rate_limited', hint: 'Try again in 7 s.' })
  })
})

test('names in a path cannot leave it', () => {
  const get = operationOf('getService')
  expect(pathOf(get, { params: { serviceId: 'a/../b?c#d' } })).toBe('/v1/services/a%2F..%2Fb%3Fc%23d')
  for (const serviceIdOf of ['', '.', '..'])
    expect(() => pathOf(get, { params: { serviceId: serviceIdOf } })).toThrow('is not a name or id')
  expect(pathOf(operationOf('listServices'), { query: { name: ['a', 'b c'], limit: 5, cursor: undefined } })).toBe(
    '/v1/services?name=a&name=b+c&limit=5',
  )
})
