import { describe, expect, test } from 'vitest'
import { AppError } from '../../shared/error.ts'
import type { Webhook, WebhookEvent } from '../../shared/webhook.ts'
import { exampleService, pageOf, serviceId } from './examples.ts'
import type { Answers } from './fake-server.ts'
import { servingPlaces, shop, staging } from './places.ts'
import { serverPerTest } from './server-per-test.ts'

const webhookId = 'whk-0b1c2d3e4f5g6h7i8j9k'
const eventId = 'evt-0b1c2d3e4f5g6h7i8j9k'
const webhook = (fields: Partial<Webhook> = {}): Webhook => ({
  id: webhookId,
  name: 'chat',
  url: 'https://example.com/hooks',
  enabled: true,
  eventFilter: [],
  serviceIds: [],
  environmentIds: [],
  projectIds: [],
  createdAt: '2026-02-01T11:00:00.000Z',
  updatedAt: '2026-02-01T11:00:00.000Z',
  ...fields,
})
const attempt = (fields: Partial<WebhookEvent> = {}): WebhookEvent => ({
  id: 'whd-0b1c2d3e4f5g6h7i8j9k',
  eventId,
  eventType: 'deploy_ended',
  attempt: 1,
  sentAt: '2026-02-01T11:59:00.000Z',
  durationMs: 12,
  request: { url: 'https://example.com/hooks', headers: {}, body: '{}' },
  statusCode: 200,
  ...fields,
})

const servers = serverPerTest()
const on = (answers: Answers = {}) =>
  servers.on({
    ...servingPlaces(),
    listServices: () => pageOf('service', [exampleService()]),
    listWebhooks: () => pageOf('webhook', [webhook()]),
    getWebhook: () => webhook(),
    ...answers,
  })

describe('create', () => {
  test('prints the secret alone, and sends what it is for', async () => {
    let sent: unknown
    const run = on({
      createWebhook({ body }) {
        sent = body
        return { ...webhook(), secret: 'whsec_new' }
      },
    })
    const filters = ['--event', 'deploy_ended,server_failed', '--service', 'web', '--environment', 'shop/staging', '--project', 'shop']
    const { stdout, stderr, exitCode } = await run('webhooks', 'create', 'chat', 'https://example.com/hooks', ...filters)
    expect({ stdout, exitCode }).toEqual({ stdout: 'whsec_new\n', exitCode: 0 })
    expect(stderr).toContain('not shown again')
    expect(sent).toEqual({
      name: 'chat',
      url: 'https://example.com/hooks',
      enabled: true,
      eventFilter: ['deploy_ended', 'server_failed'],
      serviceIds: [serviceId],
      environmentIds: [staging.id],
      projectIds: [shop.id],
    })
  })

  test('names the type that is meant', async () => {
    const { stderr, exitCode } = await on()('webhooks', 'create', 'chat', 'https://example.com/', '--event', 'deploy_end')
    expect(stderr).toContain('Did you mean deploy_ended?')
    expect(exitCode).toBe(2)
  })
})

describe('list and show', () => {
  test('say why one is disabled', async () => {
    const disabled = webhook({ enabled: false, disabledReason: 'An event could not be delivered in 8 attempts.' })
    const run = on({ listWebhooks: () => pageOf('webhook', [disabled]) })
    expect((await run('webhooks', 'list')).stdout).toContain('disabled: An event could not be delivered in 8 attempts.')
    expect(JSON.parse((await run('webhooks', 'list', '--json')).stdout)).toEqual([disabled])
  })

  test('say what one is for', async () => {
    const run = on({ listWebhooks: () => pageOf('webhook', [webhook({ projectIds: [shop.id], eventFilter: ['deploy_ended'] })]) })
    const { stdout } = await run('webhooks', 'show', 'chat')
    expect(stdout).toMatch(/Events: +deploy_ended\n/)
    expect(stdout).toMatch(/Of: +project shop\n/)
  })

  test('find one by name or id, and name the nearest', async () => {
    expect((await on()('webhooks', 'show', webhookId)).stdout).toMatch(/Of: +the whole workspace\n/)
    await servers.stop()
    const { stderr, exitCode } = await on()('webhooks', 'show', 'chatt')
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: 'Error: There is no webhook chatt.\nDid you mean chat? cpctl webhooks list shows them.\n',
    })
    await servers.stop()
    const twice = on({ listWebhooks: () => pageOf('webhook', [webhook(), webhook({ id: 'whk-1b1c2d3e4f5g6h7i8j9k' })]) })
    expect((await twice('webhooks', 'show', 'chat')).stderr).toContain('Give the id')
  })
})

test('update changes what is named, and needs something', async () => {
  let sent: unknown
  const run = on({
    updateWebhook({ body }) {
      sent = body
      return webhook()
    },
  })
  expect((await run('webhooks', 'update', 'chat', '--all-events', '--everywhere')).stdout).toBe('Updated chat.\n')
  expect(sent).toEqual({ eventFilter: [], serviceIds: [], environmentIds: [], projectIds: [] })
  await run('webhooks', 'update', 'chat', '--to', 'https://example.com/other')
  expect(sent).toEqual({ url: 'https://example.com/other' })
  expect((await run('webhooks', 'update', 'chat')).stderr).toContain('Nothing to change')
  await run('webhooks', 'disable', 'chat')
  expect(sent).toEqual({ enabled: false })
  expect((await run('webhooks', 'enable', 'chat')).stderr).toContain('cpctl webhooks resend chat --from <time> --missed')
  expect(sent).toEqual({ enabled: true })
})

test('delete asks for the name', async () => {
  const run = on({ deleteWebhook: () => undefined })
  expect((await run('webhooks', 'delete', 'chat', '--yes')).stdout).toBe('Deleted chat.\n')
})

describe('test', () => {
  test('tells the answer', async () => {
    const run = on({ testWebhook: () => attempt({ eventType: 'webhook_test' }) })
    expect((await run('webhooks', 'test', 'chat')).stdout).toBe('chat took it: 200 in 12 ms.\n')
  })

  test('fails where the receiver did not take it', async () => {
    const run = on({
      testWebhook: () => attempt({ statusCode: 500, error: 'It answered 500; only 2xx takes the event.', responseBody: 'boom' }),
    })
    const { stderr, exitCode } = await run('webhooks', 'test', 'chat')
    expect(stderr).toBe('Error: chat did not take it. It answered 500; only 2xx takes the event.\nThe answer was: boom\n')
    expect(exitCode).not.toBe(0)
  })
})

test('rotate prints the new secret alone', async () => {
  const run = on({
    rotateWebhookSecret: () => ({ ...webhook({ previousSecretExpiresAt: '2026-02-02T11:00:00.000Z' }), secret: 'whsec_newer' }),
  })
  const { stdout, stderr } = await run('webhooks', 'rotate', 'chat')
  expect(stdout).toBe('whsec_newer\n')
  expect(stderr).toContain('until 2026-02-02T11:00:00.000Z')
})

test('deliveries are shown with their outcomes', async () => {
  const failed = attempt({
    attempt: 3,
    statusCode: 502,
    error: 'It answered 502; only 2xx takes the event.',
    nextAttemptAt: '2026-02-01T12:30:00.000Z',
  })
  let asked: unknown
  const run = on({
    listWebhookEvents({ query }) {
      asked = query
      return pageOf('webhookEvent', [attempt(), failed])
    },
  })
  const { stdout } = await run('webhooks', 'deliveries', 'chat', '--since', '2026-02-01T10:00:00Z')
  expect(stdout).toContain('delivered (200)')
  expect(stdout).toContain('502: It answered 502; only 2xx takes the event.')
  expect(stdout).toContain('2026-02-01T12:30:00.000Z')
  expect(asked).toMatchObject({ sentAfter: '2026-02-01T10:00:00.000Z' })
})

describe('resend', () => {
  test('sends one event or a range', async () => {
    const sent: unknown[] = []
    const run = on({
      resendWebhookEvents({ body }) {
        sent.push(body)
        return undefined
      },
    })
    await run('webhooks', 'resend', 'chat', eventId)
    await run('webhooks', 'resend', 'chat', '--from', '2026-02-01T10:00:00Z', '--to', '2026-02-01T11:00:00Z', '--missed')
    expect(sent).toEqual([{ eventId }, { from: '2026-02-01T10:00:00.000Z', to: '2026-02-01T11:00:00.000Z', onlyMissed: true }])
  })

  test('says what is missing, and what the server refused', async () => {
    const run = on({
      resendWebhookEvents() {
        throw new AppError('conflict', 'The webhook chat is disabled. Enable it first: PATCH /v1/webhooks/whk-0b1c2d3e4f5g6h7i8j9k.')
      },
    })
    expect((await run('webhooks', 'resend', 'chat')).exitCode).toBe(2)
    expect((await run('webhooks', 'resend', 'chat', 'srv-1')).exitCode).toBe(2)
    expect((await run('webhooks', 'resend', 'chat', eventId, '--from', '1h')).exitCode).toBe(2)
    expect((await run('webhooks', 'resend', 'chat', eventId)).stderr).toContain('cpctl webhooks update whk-0b1c2d3e4f5g6h7i8j9k')
  })
})
