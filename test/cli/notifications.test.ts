import { afterEach, expect, test } from 'vitest'
import { exampleMe, exampleService, pageOf, serviceId, workspaceId } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions } from './terminal.ts'

let server: FakeServer
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
})

const settings = {
  ...{ ownerId: workspaceId, notificationsToSend: 'failure', emailEnabled: true, previewNotificationsEnabled: false },
  ...{ slackEnabled: true, slackUrl: 'https://hooks.slack.com/…k3Fa', discordEnabled: false, isMailConfigured: true },
}
const overrides = { serviceId, notificationsToSend: 'none', previewNotificationsEnabled: 'default' }
const answers: Answers = {
  me: () => exampleMe({}),
  listServices: () => pageOf('service', [exampleService()]),
  getNotificationSettings: () => settings,
  updateNotificationSettings: () => settings,
  getNotificationOverrides: () => overrides,
  updateNotificationOverrides: () => overrides,
  testNotifications: () => [
    { channel: 'slack', delivered: true },
    { channel: 'discord', delivered: false, error: 'It answered 404.' },
  ],
}

function run(argv: string[], options: TerminalOptions = {}) {
  server = startFakeServer(answers)
  return cpctl(['notifications', ...argv], { env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' }, ...options })
}
const sent = (id: string) => server.received.find((received) => received.id === id)?.body

test('shows what is told, and where', async () => {
  const { stdout } = await run(['show'])
  expect(stdout).toBe('Told:    failure\nMail:    on\nSlack:   https://hooks.slack.com/…k3Fa\nDiscord: off\n')
})

test('sets only what is given, a URL from standard input too, and removes one', async () => {
  await run(['set', '--level', 'all', '--slack-url', '-', '--no-discord-url'], { stdin: 'https://hooks.slack.com/services/secret\n' })
  expect(sent('updateNotificationSettings')).toEqual({
    notificationsToSend: 'all',
    slackUrl: 'https://hooks.slack.com/services/secret',
    discordUrl: null,
  })
})

test('sets the level of one service, for which there are no channels of its own', async () => {
  expect((await run(['set', '--service', 'web', '--level', 'none'])).stdout).toBe('Told of it: none\n')
  expect(sent('updateNotificationOverrides')).toEqual({ notificationsToSend: 'none' })
  await server.stop()
  expect(await run(['set', '--service', 'web', '--no-mail'])).toMatchObject({ exitCode: 2 })
})

test('refuses to set nothing', async () => {
  expect(await run(['set'])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('nothing to set') })
})

test('a test fails when a message was not taken, and says which', async () => {
  const { exitCode, stdout } = await run(['test'])
  expect(exitCode).not.toBe(0)
  expect(stdout).toBe('slack: taken\ndiscord: not taken. It answered 404.\n')
})
