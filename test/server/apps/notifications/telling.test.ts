import { beforeEach, describe, expect, test } from 'vitest'
import { insertMessage } from '../../../../server/apps/notifications/message-store.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { addPerson } from '../../../support/access.ts'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { type HookReceiver, startReceiver } from '../../../support/hook-receiver.ts'
import { type NotificationServer, startNotificationServer } from '../../../support/notification-server.ts'
import { testAdmin } from '../../../support/server.ts'

const MINUTE_MS = 60_000

let world: NotificationServer
let receiver: HookReceiver
let serviceId: string

beforeEach(async () => {
  receiver = startReceiver()
  world = await startNotificationServer()
  serviceId = await createService(world.server, { name: 'shop', envVars: [{ key: 'PASSWORD', value: 'planted-secret' }] })
  return async () => {
    await world.close()
    receiver.close()
  }
})

const failDeploy = (id = serviceId, deployId = 'dep-00000000000000000001') =>
  world.happen('deploy_ended', id, { deployId, status: 'build_failed', reason: 'Build failed: it exited with 1' })
const mails = () =>
  world.mailbox.mails.map(({ recipients, parsed }) => ({ to: recipients[0], subject: parsed.subject, text: parsed.text ?? '' }))
const posted = (path: string) => receiver.received.filter((got) => got.path === path).map(({ body }) => JSON.parse(body))

describe('a failure', () => {
  test('is told once, with its reason and the last lines, of which secrets are none, and once more when it is over', async () => {
    const line = { timestampMs: world.clock.now() - 1, resource: serviceId, instance: 'dep-00000000000000000001', level: 'info' } as const
    world.server.context.logStore.append([
      { ...line, type: 'build', message: 'connecting with planted-secret' },
      { ...line, type: 'build', message: 'boom' },
    ])
    failDeploy()
    await world.pass(10 * MINUTE_MS)
    const [first, ...others] = mails()
    expect(others).toEqual([])
    expect(first).toMatchObject({ to: testAdmin.email, subject: 'shop: Deploy failed' })
    expect(first?.text).toContain('Build failed: it exited with 1')
    expect(first?.text).toContain('    connecting with [hidden]\n    boom')
    world.happen('deploy_ended', serviceId, { deployId: 'dep-00000000000000000002', status: 'live' })
    await world.pass(10 * MINUTE_MS)
    expect(mails().map(({ subject }) => subject)).toEqual(['shop: Deploy failed', 'shop: Deploy is live'])
  })

  test('of an instance is over when it has served for five minutes', async () => {
    for (let death = 0; death < 5; death++) {
      world.happen('server_failed', serviceId, { instanceId: 'one', reason: 'It exited with 1' })
      await world.pass(MINUTE_MS)
      world.happen('server_available', serviceId, { instanceId: 'one' })
      await world.pass(MINUTE_MS)
    }
    expect(mails().map(({ subject }) => subject)).toEqual(['shop: Instance failed'])
    await world.pass(10 * MINUTE_MS)
    expect(mails().map(({ subject }) => subject)).toEqual(['shop: Instance failed', 'shop: Instances serve again'])
  })

  test('of a service that is suspended or deleted meanwhile is not told to be over', async () => {
    world.happen('server_failed', serviceId, { reason: 'It exited with 1' })
    world.happen('server_available', serviceId)
    world.happen('service_suspended', serviceId)
    await world.pass(20 * MINUTE_MS)
    expect(mails().map(({ subject }) => subject)).toEqual(['shop: Instance failed'])
  })
})

test('twenty failures in a minute make one message', async () => {
  const services = await Promise.all(Array.from({ length: 20 }, (_, index) => createService(world.server, { name: `many-${index}` })))
  for (const [index, id] of services.entries()) {
    failDeploy(id, `dep-000000000000000001${String(index).padStart(2, '0')}`)
    await world.pass(2900)
  }
  await world.pass(10 * MINUTE_MS)
  expect(mails().map(({ subject }) => subject)).toEqual(['Default: 20 failed'])
})

test('a mail that is to be tried again goes to nobody who has left meanwhile', async () => {
  const { db } = world.server
  const { workspaceId } = world
  const userId = addPerson(world, 'viewer')
  db.query('UPDATE users SET email_proven_at = 1 WHERE id = ?').run(userId)
  const again = { workspaceId, channel: 'email', userId, subject: 'shop: Deploy failed', text: 'again' } as const
  insertMessage(db, { ...again, about: [serviceId], nextAttemptAt: world.clock.now() + MINUTE_MS })
  insertMessage(db, { ...again, about: [serviceId], nextAttemptAt: world.clock.now() + 3 * MINUTE_MS })
  world.kill()
  await world.pass(2 * MINUTE_MS)
  expect(mails()).toHaveLength(1)
  db.query('DELETE FROM members WHERE user_id = ?').run(userId)
  await world.pass(5 * MINUTE_MS)
  expect(mails()).toHaveLength(1)
  expect(db.query('SELECT * FROM notification_messages').all()).toEqual([])
})

test('a mail that is to be tried again goes to nobody who may not see any more what it is about', async () => {
  const { db } = world.server
  const { workspaceId } = world
  const other = await createService(world.server, { name: 'other' })
  const people = [[serviceId], [other], [serviceId, other]].map((scope) => {
    const userId = addPerson(world, 'viewer')
    db.query('UPDATE users SET email_proven_at = 1 WHERE id = ?').run(userId)
    return { userId, scope }
  })
  const message = { workspaceId, channel: 'email', subject: 'shop: Deploy failed', text: 'again' } as const
  for (const { userId } of people)
    insertMessage(db, { ...message, about: [serviceId], userId, nextAttemptAt: world.clock.now() + MINUTE_MS })
  for (const { userId, scope } of people) db.query('UPDATE members SET scope = ? WHERE user_id = ?').run(JSON.stringify(scope), userId)
  world.kill()
  await world.pass(2 * MINUTE_MS)
  expect(
    mails()
      .map(({ to }) => to)
      .sort(),
  ).toEqual([people[0], people[2]].map((one) => `${one?.userId}@example.com`).sort())
  expect(db.query('SELECT * FROM notification_messages').all()).toEqual([])
})

describe('chats', () => {
  test('get what Slack and what Discord take, without mentions, and URLs are sealed and shown masked', async () => {
    const { body } = await world.set({
      emailEnabled: false,
      slackUrl: `${receiver.url}/slack/T0/secret-part`,
      discordUrl: `${receiver.url}/discord/secret-part`,
    })
    expect(body).toMatchObject({ slackEnabled: true, slackUrl: `${receiver.url}/…part`, discordEnabled: true, emailEnabled: false })
    world.happen('server_failed', serviceId, { reason: 'said <!channel> & @everyone' })
    await world.pass(2 * MINUTE_MS)
    expect(posted('/slack/T0/secret-part')).toEqual([{ text: expect.stringContaining('said &lt;!channel&gt; &amp; @everyone') }])
    expect(posted('/discord/secret-part')).toEqual([
      { content: expect.stringContaining('[FAILED] shop: Instance failed'), allowed_mentions: { parse: [] } },
    ])
    expect(mails()).toEqual([])
    expect(JSON.stringify(world.server.db.query('SELECT * FROM notification_settings').all())).not.toContain('secret-part')
    expect((await world.set({ slackUrl: null })).body).toMatchObject({ slackEnabled: false, discordEnabled: true })
  })

  test('that are away are tried again, and given up after the fifth time', async () => {
    await world.set({ emailEnabled: false, slackUrl: `${receiver.url}/slack` })
    receiver.answer(() => new Response('no', { status: 500 }))
    failDeploy()
    await world.pass(5 * 60 * MINUTE_MS)
    expect(receiver.received).toHaveLength(5)
    expect(world.server.db.query('SELECT * FROM notification_messages').all()).toEqual([])
  })

  test('in a private network are refused, as a URL and at each attempt', async () => {
    for (const url of ['http://169.254.169.254/x', 'https://10.0.0.1/x', 'https://[::1]/x', 'ftp://example.com/x', 'http://example.com/x'])
      expect(expectError(await world.set({ slackUrl: url }), 'validation_failed').details?.[0]?.path).toBe('/slackUrl')
    const addresses: string[] = []
    const rebinding = await startNotificationServer({
      env: { CP_OUTGOING_ALLOW: '' },
      lookup: async (host) => {
        addresses.push(host)
        return ['169.254.169.254']
      },
    })
    try {
      expect((await rebinding.set({ emailEnabled: false, slackUrl: 'https://chat.example.com/hook' })).status).toBe(200)
      rebinding.happen('server_failed', await createService(rebinding.server, { name: 'web' }), { reason: 'It exited' })
      await rebinding.pass(5 * 60 * MINUTE_MS)
      expect(addresses).toHaveLength(5)
    } finally {
      await rebinding.close()
    }
  })
})

describe('settings', () => {
  test('of a service go before those of the workspace', async () => {
    const quiet = await createService(world.server, { name: 'quiet' })
    await world.api(`/notification-settings/overrides/services/${quiet}`, { method: 'PATCH', json: { notificationsToSend: 'none' } })
    await world.set({ notificationsToSend: 'all' })
    failDeploy(quiet)
    world.happen('deploy_ended', serviceId, { deployId: 'dep-00000000000000000003', status: 'live' })
    await world.pass(2 * MINUTE_MS)
    expect(mails().map(({ subject }) => subject)).toEqual(['shop: Deploy is live'])
  })

  test('are tried with a message to each channel, and say how it went', async () => {
    await world.set({ slackUrl: `${receiver.url}/slack`, discordUrl: `${receiver.url}/away` })
    receiver.answer(({ path }) => new Response(null, { status: path === '/slack' ? 200 : 404 }))
    const { body } = await world.api(`/notification-settings/owners/${world.workspaceId}/test`, { method: 'POST' })
    expect(body).toEqual([
      { channel: 'email', delivered: false, error: expect.stringContaining('Sign in') },
      { channel: 'slack', delivered: true },
      { channel: 'discord', delivered: false, error: 'It answered 404; only 2xx takes a message.' },
    ])
  })
})

describe('people', () => {
  const proven = (role: string, scope?: string[]): string => {
    const userId = addPerson({ server: world.server, workspaceId: world.workspaceId }, role)
    world.server.db.query('UPDATE users SET email_proven_at = 1 WHERE id = ?').run(userId)
    if (scope) world.server.db.query('UPDATE members SET scope = ? WHERE user_id = ?').run(JSON.stringify(scope), userId)
    return world.server.db.query<{ email: string }, [string]>('SELECT email FROM users WHERE id = ?').get(userId)?.email ?? ''
  }

  test('who are confined hear of what they may see, and whose address nobody has proven of nothing', async () => {
    const other = await createService(world.server, { name: 'other' })
    const confined = proven('viewer', [other])
    const doubtful = addPerson({ server: world.server, workspaceId: world.workspaceId }, 'viewer')
    failDeploy(serviceId)
    failDeploy(other, 'dep-00000000000000000004')
    await world.pass(2 * MINUTE_MS)
    expect(mails().map(({ to, subject }) => [to, subject])).toEqual(
      expect.arrayContaining([
        [testAdmin.email, 'Default: 2 failed'],
        [confined, 'other: Deploy failed'],
      ]),
    )
    expect(mails()).toHaveLength(2)
    expect(doubtful).not.toBe('')
  })

  test('end their mail by one click on the link that stands in each, without signing in', async () => {
    failDeploy()
    await world.pass(2 * MINUTE_MS)
    const headers = new Map(world.mailbox.mails[0]?.parsed.headers.map(({ key, value }) => [key, value]))
    expect(headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
    const link = world.server.url + new URL(headers.get('list-unsubscribe')?.slice(1, -1) ?? '').pathname
    expectError(await call(link.slice(0, -4), { method: 'POST' }), 'not_found')
    const form = { raw: 'List-Unsubscribe=One-Click', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
    expect((await call(link, form)).status).toBe(204)
    failDeploy(serviceId, 'dep-00000000000000000005')
    await world.pass(2 * MINUTE_MS)
    expect(mails()).toHaveLength(1)
  })

  test('who open that link in a browser are asked first', async () => {
    failDeploy()
    await world.pass(2 * MINUTE_MS)
    const page = /http\S+\/unsubscribe\?token=\S+/.exec(mails()[0]?.text ?? '')?.[0] ?? ''
    const { pathname, search } = new URL(page)
    const shown = await fetch(world.server.url + pathname + search)
    expect(await shown.text()).toContain('Send me no more mail')
    const token = new URLSearchParams(search).get('token') ?? ''
    const opened = await fetch(`${world.server.url}/v1/notification-settings/unsubscribe/${token}`, { redirect: 'manual' })
    expect([opened.status, opened.headers.get('location')]).toEqual([303, page])
    failDeploy(serviceId, 'dep-00000000000000000006')
    await world.pass(2 * MINUTE_MS)
    expect(mails()).toHaveLength(2)
    const body = new URLSearchParams({ token })
    const done = await fetch(`${world.server.url}/unsubscribe`, { method: 'POST', body, headers: { origin: world.server.url } })
    expect(await done.text()).toContain('No more mail')
    failDeploy(serviceId, 'dep-00000000000000000007')
    await world.pass(2 * MINUTE_MS)
    expect(mails()).toHaveLength(2)
  })
})

test('a kill at any moment loses nothing, and has at most the message under way sent twice', async () => {
  for (let round = 0; round < 10; round++) {
    failDeploy(serviceId, `dep-0000000000000000020${round}`)
    world.kill()
    await world.pass(20_000)
    world.kill()
    await world.pass(45_000)
    world.kill()
    await world.pass(MINUTE_MS)
  }
  const texts = mails().map(({ text }) => text.match(/\[FAILED\]/g)?.length ?? 0)
  const told = texts.reduce((sum, count) => sum + count, 0)
  expect(told).toBeGreaterThanOrEqual(10)
  expect(told).toBeLessThanOrEqual(20)
})
