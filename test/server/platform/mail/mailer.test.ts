import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { readConfig } from '../../../../server/boot/settings/config.ts'
import { deliver } from '../../../../server/platform/mail/deliver.ts'
import { createMailer } from '../../../../server/platform/mail/mailer.ts'
import { mailSettingsOf } from '../../../../server/platform/mail/settings.ts'
import { createServerLog } from '../../../../server/platform/server-log.ts'
import { makeCertificate } from '../../../support/certificates.ts'
import { type Mailbox, type MailboxOptions, startMailbox } from '../../../support/mailbox.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function mailbox(options: MailboxOptions = {}): Promise<Mailbox> {
  const box = await startMailbox(options)
  open.push(box)
  return box
}

const mailerFor = (env: Record<string, string>, deadlineMs?: number) => createMailer(mailSettingsOf(readConfig(env, {}, false)), deadlineMs)
const mail = { to: 'ada@example.com', subject: 'Invitation', text: 'Follow https://example.com/invite?token=abc\n\nGrüße' }

test('a plain-text mail arrives as it was written', async () => {
  const box = await mailbox()
  await mailerFor(box.env).send(mail)
  const { recipients, sender, parsed } = await box.newestTo('ada@example.com')
  expect({ recipients, sender }).toEqual({ recipients: ['ada@example.com'], sender: 'cpd@example.com' })
  expect(parsed.from).toMatchObject({ name: 'Platform', address: 'cpd@example.com' })
  expect(parsed.subject).toBe('Invitation')
  expect(parsed.text?.trim()).toBe(mail.text)
  expect(parsed.html).toBeUndefined()
})

test('STARTTLS is used where the server offers it, and the login goes through it', async () => {
  const { privateKey: key, certificate: cert } = await makeCertificate({ names: ['localhost'] })
  const login = { user: 'cpd@example.com', password: 'p%:/@ss' }
  const box = await mailbox({ login, server: { key, cert } })
  await mailerFor(box.env).send(mail)
  expect(box.mails[0]).toMatchObject({ isEncrypted: true, user: login.user })
})

test('smtps speaks TLS from the first byte', async () => {
  const { privateKey: key, certificate: cert } = await makeCertificate({ names: ['localhost'] })
  const box = await mailbox({ server: { secure: true, key, cert } })
  await mailerFor(box.env).send(mail)
  expect(box.mails[0]).toMatchObject({ isEncrypted: true })
})

test('a refused login is told in the words of the server, without the password', async () => {
  const box = await mailbox({ login: { user: 'cpd', password: 'right' } })
  const wrong = { ...box.env, CP_SMTP_URL: `smtp://cpd:wrong-password@127.0.0.1:${box.port}` }
  const attempt = mailerFor(wrong).send(mail)
  await expect(attempt).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('535') })
  await expect(attempt).rejects.not.toThrow('wrong-password')
  expect(box.mails).toEqual([])
})

test('a subject or an address cannot add headers or recipients', async () => {
  const box = await mailbox()
  const mailer = mailerFor(box.env)
  const subject = 'Join "X"\r\nBcc: all@example.com\r\n\r\nbody\u2028\u0000'
  await mailer.send({ ...mail, to: 'ada,eve@example.com', subject })
  const { recipients, parsed } = box.mails[0] ?? {}
  expect(parsed?.headers.map(({ key }) => key)).not.toContain('bcc')
  expect(parsed?.subject).toBe('Join "X" Bcc: all@example.com body')
  expect(recipients).toHaveLength(1)
  for (const to of ['ada@example.com\r\nRCPT TO:<eve@example.com>', 'ada@example.com>\r\nDATA'])
    await mailer.send({ ...mail, to }).catch(() => undefined)
  expect(box.mails.flatMap((received) => received.recipients)).not.toContain('eve@example.com')
})

test('a line with a dot alone does not end the text', async () => {
  const box = await mailbox()
  await mailerFor(box.env).send({ ...mail, text: 'before\r\n.\r\nRCPT TO:<eve@example.com>' })
  expect(box.mails).toHaveLength(1)
  expect(box.mails[0]?.parsed.text).toContain('RCPT TO')
})

test('without settings sending says what to set, and delivering is skipped', async () => {
  const mailer = createMailer(undefined)
  expect(mailer.isConfigured).toBe(false)
  await expect(mailer.send(mail)).rejects.toMatchObject({ code: 'not_configured', message: expect.stringContaining('CP_SMTP_URL') })
  const logged: string[] = []
  expect(await deliver({ mailer, log: createServerLog((line) => logged.push(line)) }, mail)).toBe(false)
  expect(logged).toEqual([])
})

test('what goes wrong while delivering is logged without the text, and stops nothing', async () => {
  const box = await mailbox({ server: { onRcptTo: (_, __, done) => done(new Error('No such person here')) } })
  const logged: string[] = []
  const isSent = await deliver({ mailer: mailerFor(box.env), log: createServerLog((line) => logged.push(line)) }, mail)
  expect(isSent).toBe(false)
  expect(logged.join('')).toContain('No such person here')
  expect(logged.join('')).not.toContain('token=abc')
})

test('a server that accepts and says nothing, or is not there, fails the mail in time', async () => {
  const sockets = new Set<Socket>()
  const silent = await new Promise<Server>((resolve) => {
    const server = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1', () => resolve(server))
  })
  open.push({
    close() {
      for (const socket of sockets) socket.destroy()
      silent.close()
    },
  })
  const { port } = silent.address() as { port: number }
  const env = (at: number) => ({ CP_SMTP_URL: `smtp://127.0.0.1:${at}`, CP_SMTP_FROM: 'cpd@example.com' })
  await expect(mailerFor(env(port), 300).send(mail)).rejects.toMatchObject({ code: 'unavailable' })
  await expect(mailerFor(env(1)).send(mail)).rejects.toMatchObject({ code: 'unavailable' })
})
