import { cpSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { type AppFolder, copyApp, fixtureDir } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder, deployIn, serviceNamed } from '../support/compiled-steps.ts'
import { freePorts } from '../support/free-ports.ts'
import { type HookReceiver, startReceiver } from '../support/hook-receiver.ts'
import { type Mailbox, startMailbox } from '../support/mailbox.ts'
import { until } from '../support/until.ts'

let cpd: Compiled
let mailbox: Mailbox
let receiver: HookReceiver
let folder: AppFolder
beforeAll(async () => {
  mailbox = await startMailbox()
  receiver = startReceiver()
  const [apiPort = 0] = freePorts(1)
  const env = { ...mailbox.env, CP_OUTGOING_ALLOW: '127.0.0.0/8', CP_PUBLIC_URL: `http://127.0.0.1:${apiPort}` }
  cpd = await startCompiled({ apiPort, env })
  folder = copyApp('hello-js')
})
afterAll(async () => {
  folder.remove()
  await cpd.stop()
  receiver.close()
  await mailbox.close()
})

/** What a message waits for others, and some more for a machine that is loaded. */
const TOLD_MS = 150_000

const curl = (...words: string[]) =>
  runProcess(['curl', '--silent', '--show-error', ...words], { env: { PATH: '/usr/local/bin:/usr/bin:/bin' } })

/** By the link that was mailed, which proves the address. */
async function join(email: string, scopedTo: string): Promise<void> {
  const link = (await cpctl(cpd, 'invites', 'create', email, '--role', 'viewer', '--service', scopedTo)).trim()
  const { argv, env } = cpd.cpctlCommand(['invites', 'accept', link, '--name', 'Ada', '--password-stdin'])
  const accepted = await runProcess(argv, { env: { ...env, CPCTL_TOKEN: '' }, input: 'correct horse battery\n' })
  expect(accepted, accepted.stderr).toMatchObject({ exitCode: 0 })
}

test('a deploy that fails is told by mail and to a chat, once, past a kill, and to nobody who is confined to other services', async () => {
  await deployFolder(cpd, folder.dir)
  await cpctl(cpd, 'services', 'create', 'other', '--type', 'web_service')
  await join('ada@example.com', 'other')
  await cpctl(cpd, 'notifications', 'set', '--slack-url', `${receiver.url}/slack`)
  const { id } = await serviceNamed(cpd, 'hello-js')
  cpSync(fixtureDir('build-fails'), folder.dir, { recursive: true })
  const failed = await cpd.cpctl(['deploy', folder.dir, '--no-guard'])
  expect(failed.exitCode).not.toBe(0)
  await cpd.kill9()
  await cpd.start()

  const mail = await until(
    'the mail has come',
    () => mailbox.mails.find(({ parsed }) => parsed.subject === 'hello-js: Deploy failed'),
    TOLD_MS,
  )
  expect(mail).toMatchObject({ recipients: ['admin@localhost'] })
  expect(mail.parsed.text).toContain('about to fail')
  const posted = await until('the chat was told', () => receiver.received.find(({ path }) => path === '/slack'), TOLD_MS)
  expect(JSON.parse(posted.body)).toEqual({ text: expect.stringContaining('[FAILED] hello-js: Deploy failed') })
  expect(receiver.received).toHaveLength(1)
  expect(mailbox.mails.filter(({ parsed }) => parsed.subject?.startsWith('hello-js'))).toHaveLength(1)
  expect((await deployIn(cpd, id, 'build_failed')).trigger).toBe('api')
}, 300_000)

test('whoever has the URL of a deploy hook deploys by curl, until it is rotated', async () => {
  const { id } = await serviceNamed(cpd, 'hello-js')
  const source = copyApp('hello-js')
  source.setVersion('by hook')
  await deployFolder(cpd, source.dir)
  source.remove()
  const url = (await cpctl(cpd, 'deploy-hooks', 'show', 'hello-js')).trim()
  const called = await curl('--request', 'POST', '--write-out', '%{http_code}', url)
  expect(called).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/"id":"dep-\w+".*201$/s) })
  const deployed = await deployIn(cpd, id, 'live', 60_000)
  expect(deployed).toMatchObject({ trigger: 'deploy_hook', id: /dep-\w+/.exec(called.stdout)?.[0] })
  expect(await (await cpd.appFetch('hello-js')).text()).toContain('by hook')
  await cpctl(cpd, 'deploy-hooks', 'rotate', 'hello-js', '--yes')
  expect((await curl('--request', 'POST', '--write-out', '%{http_code}', url)).stdout).toMatch(/404$/)
}, 180_000)
