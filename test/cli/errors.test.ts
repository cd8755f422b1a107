import { expect, test } from 'vitest'
import { AppError } from '../../shared/error.ts'
import type { Answers } from './fake-server.ts'
import { serverPerTest } from './server-per-test.ts'
import { cpctl } from './terminal.ts'

const { on, stop } = serverPerTest()

test('the message of the server and its details reach standard error', async () => {
  const details = [{ path: '/name', message: 'Another service has this name.' }]
  const answers: Answers = {
    createService: () => {
      throw new AppError('conflict', 'The name is taken.', { details })
    },
  }
  const people = await on(answers)('services', 'create', 'web')
  expect(people).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: 'Error: The name is taken.\n  /name: Another service has this name.\n',
  })
  await stop()
  const scripts = await on(answers)('services', 'create', 'web', '--json')
  expect(JSON.parse(scripts.stderr)).toEqual({ message: 'The name is taken.', code: 'conflict', id: 'req-1', details })
})

test('a refused credential says to log in', async () => {
  const { stderr } = await on({
    listServices: () => {
      throw new AppError('unauthorized', 'This key is revoked.')
    },
  })('services', 'list')
  expect(stderr).toBe('Error: This key is revoked.\nRun cpctl login, or set CPCTL_TOKEN to a valid API key.\n')
})

test('a server that is not there is named', async () => {
  const { exitCode, stderr } = await cpctl(['services', 'list'], { env: { CPCTL_URL: 'http://127.0.0.1:9' } })
  expect(exitCode).toBe(1)
  expect(stderr).toBe('Error: Cannot reach http://127.0.0.1:9: is the server running?\nSet CPCTL_URL or run cpctl login --url <url>.\n')
})

test('something else than a cpd server is told apart', async () => {
  const { stderr } = await on({ listServices: () => new Response('<html>', { status: 200 }) })('services', 'list')
  expect(stderr).toContain('Check that the URL is that of a cpd server')
})

test('a wrong command line exits with 2', async () => {
  for (const argv of [['nope'], ['services', 'nope'], ['services', 'list', '--nope'], ['services', 'scale', 'web']]) {
    expect((await cpctl(argv)).exitCode).toBe(2)
  }
  expect((await cpctl(['services', 'list'], { env: { CPCTL_URL: 'not a url' } })).exitCode).toBe(2)
})

test('a GET whose connection drops is sent again', async () => {
  let dropped = 0
  const flaky = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        if (dropped++ === 0) return socket.terminate()
        socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n[]')
      },
    },
  })
  const { exitCode } = await cpctl(['services', 'list'], { env: { CPCTL_URL: `http://127.0.0.1:${flaky.port}` } })
  flaky.stop(true)
  expect({ exitCode, dropped }).toEqual({ exitCode: 0, dropped: 2 })
})
