import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pressed } from '../../cli/terminal/input.ts'
import { AppError } from '../../shared/error.ts'
import { exampleMe, keyId, workspaceId } from './examples.ts'
import { type FakeServer, startFakeServer } from './fake-server.ts'
import { temporaryFolder } from './terminal.ts'

let server: FakeServer
/** Whether the server knows no login of devices. */
let isOld: boolean
const waitingGrant = {
  device_code: 'device-code',
  user_code: 'BCDF-GHJK',
  verification_uri: 'https://cp.example.com/device',
  verification_uri_complete: 'https://cp.example.com/device?code=BCDF-GHJK',
  expires_in: 600,
  interval: 1,
}
let folder: Awaited<ReturnType<typeof temporaryFolder>>
beforeEach(async () => {
  folder = await temporaryFolder()
  isOld = true
  server = startFakeServer({
    createDeviceGrant: () => {
      if (isOld) throw new AppError('not_found', 'There is nothing at this path.')
      return waitingGrant
    },
    redeemDeviceGrant: () =>
      Response.json({ message: 'Not yet', code: 'bad_request', id: 'req-1', error: 'authorization_pending' }, { status: 400 }),
    login: () =>
      Response.json(
        { user: { id: 'usr-0b1c2d3e4f5g6h7i8j9k', email: 'ada@example.com', name: 'Ada' }, workspace: { id: workspaceId, name: 'Main' } },
        { headers: { 'set-cookie': 'cpd_session=s3ss; Path=/' } },
      ),
    me: () => exampleMe(),
    createApiKey: () => ({ id: keyId, name: 'k', role: 'admin', created_at: '2026-02-01T12:00:00.000Z', secret: 'cpk_made' }),
    logout: () => undefined,
  })
})
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
  await folder.remove()
})

/** Runs the program in a pseudo-terminal, typing each answer when its question has come. */
async function inTerminal(argv: string[], answers: [question: string, typed: string][]): Promise<{ screen: string; exitCode: number }> {
  const left = [...answers]
  let screen = ''
  const child = Bun.spawn([process.execPath, join(import.meta.dirname, '../../cli/main.ts'), ...argv], {
    env: { HOME: folder.path, CPCTL_URL: server.url, PATH: process.env.PATH ?? '' },
    terminal: {
      data(terminal, data) {
        screen += new TextDecoder().decode(data)
        const [next] = left
        if (next === undefined || !screen.includes(next[0])) return
        left.shift()
        terminal.write(next[1])
      },
    },
  })
  const exitCode = await child.exited
  return { screen, exitCode }
}

test('a terminal is asked for the account, and the password is never on the screen', async () => {
  const { screen, exitCode } = await inTerminal(
    ['login'],
    [
      ['E-mail:', 'ada@example.comx\u007f\r'],
      ['Password:', 'secret word\r'],
    ],
  )
  expect(server.received.find(({ id }) => id === 'login')?.body).toEqual({ email: 'ada@example.com', password: 'secret word' })
  expect(screen).toContain('ada@example.com')
  expect(screen).not.toContain('secret')
  expect(screen).toContain(`Logged in to ${server.url} as ada@example.com (admin of Main).`)
  expect(exitCode).toBe(0)
})

test('Ctrl-C at a prompt ends the command', async () => {
  const { exitCode } = await inTerminal(['login'], [['E-mail:', 'ada\u0003']])
  expect(exitCode).toBe(130)
  expect(server.received.map(({ id }) => id)).toEqual(['createDeviceGrant'])
})

test('erasing takes whole letters, and nothing from an empty line', () => {
  expect(pressed('aü', '\u007f')).toEqual({ edited: 'a', echo: '\b \b' })
  expect(pressed('', '\b')).toEqual({ edited: '', echo: '' })
  expect(pressed('a', '\u0007')).toEqual({ edited: 'a', echo: '' })
})

test('Ctrl-C ends the wait for a browser, and nothing is kept', async () => {
  isOld = false
  const { screen, exitCode } = await inTerminal(['login'], [['Waiting', '\u0003']])
  expect(exitCode).toBe(130)
  expect(screen).toContain(waitingGrant.verification_uri_complete)
  expect(await Bun.file(join(folder.path, '.config/cpctl/config.json')).exists()).toBe(false)
})
