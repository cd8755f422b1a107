import { expect, test } from 'vitest'
import { describeConfig, readConfig } from '../../../../server/boot/settings/config.ts'
import { mailSettingsOf } from '../../../../server/platform/mail/settings.ts'

const settingsOf = (env: Record<string, string>) => mailSettingsOf(readConfig(env, {}, false))
const from = { CP_SMTP_FROM: 'Platform <cpd@example.com>' }

test('without settings no mail is sent', () => {
  expect(settingsOf({})).toBeUndefined()
})

test('server and sender are read', () => {
  expect(settingsOf({ CP_SMTP_URL: 'smtp://mail.example.com', ...from })).toEqual({
    server: { host: 'mail.example.com', port: 587, isTlsFromStart: false, login: undefined },
    from: { name: 'Platform', address: 'cpd@example.com' },
  })
  expect(settingsOf({ CP_SMTP_URL: 'smtps://ada%40example.com:p%25%3A%40ss@[::1]', CP_SMTP_FROM: 'cpd@example.com' })).toEqual({
    server: { host: '::1', port: 465, isTlsFromStart: true, login: { user: 'ada@example.com', password: 'p%:@ss' } },
    from: { name: '', address: 'cpd@example.com' },
  })
  expect(settingsOf({ CP_SMTP_URL: 'smtp://127.0.0.1:2525/', ...from })?.server).toMatchObject({ host: '127.0.0.1', port: 2525 })
})

test.each([
  ['CP_SMTP_URL', { CP_SMTP_URL: 'smtp://mail.example.com' }, 'CP_SMTP_FROM is not'],
  ['CP_SMTP_FROM', from, 'CP_SMTP_URL is not'],
])('%s alone stops the start', (name, env, missing) => {
  expect(() => settingsOf(env)).toThrow(name)
  expect(() => settingsOf(env)).toThrow(missing)
})

test.each([
  'mail.example.com:587',
  'http://mail.example.com',
  'smtp://',
  'smtp://mail.example.com/path',
  'smtp://mail.example.com?x=1',
  'smtp://user@mail.example.com',
  'smtp://:hunter2secret@mail.example.com',
  'smtp://user:hunter2secret%zz@mail.example.com',
  'smtp://user:hunter2secret/x@mail.example.com',
])('%s is refused by the name of the setting, without the password', (url) => {
  const attempt = () => settingsOf({ CP_SMTP_URL: url, ...from })
  expect(attempt).toThrow(/^CP_SMTP_URL: /)
  expect(attempt).not.toThrow('hunter2secret')
})

test.each(['cpd', 'a@b, c@d', 'X\r\nBcc: all@example.com <a@b>', 'X <a@b> <c@d>', '<@>'])('the sender %j is refused', (sender) => {
  expect(() => settingsOf({ CP_SMTP_URL: 'smtp://mail.example.com', CP_SMTP_FROM: sender })).toThrow(/^CP_SMTP_FROM: /)
})

test('cpd config shows the sender and hides the server with its password', () => {
  const shown = describeConfig(readConfig({ CP_SMTP_URL: 'smtp://u:hunter2secret@mail.example.com', ...from }, {}, false))
  const shownOf = (wanted: string) => shown.find(({ name }) => name === wanted)?.value
  expect([shownOf('CP_SMTP_URL'), shownOf('CP_SMTP_FROM')]).toEqual(['(set)', from.CP_SMTP_FROM])
  expect(JSON.stringify(shown)).not.toContain('hunter2secret')
})
