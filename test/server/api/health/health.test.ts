import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHealthCheck, PROBE_TIMEOUT_MS } from '../../../../server/api/health/check.ts'
import { requireRoom } from '../../../../server/api/health/components.ts'
import { renderStatusPage } from '../../../../server/api/health/status-page.ts'
import { expectConventions } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'
import { idleEngine, idleIngress } from '../../../support/idle-parts.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

describe('health', () => {
  test('is public and tells how the parts are', async () => {
    const reply = await call(`${server.url}/api/health`)
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({
      status: 'ok',
      version: '0.0.0-test',
      checks: { database: { status: 'ok' }, ingress: { status: 'ok' }, engine: { status: 'ok' }, disk: { status: 'ok' } },
    })
    expectConventions(reply)
  })

  test('answers HEAD with the same head and no body', async () => {
    const reply = await call(`${server.url}/api/health`, { method: 'HEAD' })
    expect(reply).toMatchObject({ status: 200, body: undefined })
    expect(Number(reply.headers.get('content-length'))).toBeGreaterThan(10)
    expect((await call(`${server.url}/v1/auth/me`, { method: 'HEAD' })).status).toBe(401)
  })

  test('is degraded without the engine and down without the ingress, and says nothing of why', async () => {
    const failing = () => Promise.reject(new Error('connect ENOENT /secret/ingress.sock'))
    const weak = await startTestServer({ parts: { engine: { ...idleEngine, list: failing } } })
    expect(await call(`${weak.url}/api/health`)).toMatchObject({ status: 200, body: { status: 'degraded' } })
    await weak.close()
    const down = await startTestServer({ parts: { ingress: { ...idleIngress, status: failing } } })
    const reply = await call(`${down.url}/api/health`)
    expect(reply).toMatchObject({ status: 503, body: { status: 'down', checks: { ingress: { status: 'down' } } } })
    expect(JSON.stringify(reply.body)).not.toContain('secret')
    await down.close()
  })

  test('room on the disk is one of the parts', async () => {
    await requireRoom(tmpdir(), 1)
    await expect(requireRoom(tmpdir(), Number.MAX_SAFE_INTEGER)).rejects.toThrow('bytes free')
  })

  test('a part that fails at once leaves nothing behind that fails later', async () => {
    const later: unknown[] = []
    const note = (reason: unknown) => void later.push(reason)
    process.on('unhandledRejection', note)
    const probe = () => {
      throw new Error('away')
    }
    expect(await createHealthCheck([{ name: 'part', without: 'down', probe }], Date.now)()).toMatchObject({ status: 'down' })
    await sleep(PROBE_TIMEOUT_MS + 100)
    process.off('unhandledRejection', note)
    expect(later).toEqual([])
  })

  test('asks the parts at most once a second', async () => {
    let now = 0
    let probes = 0
    const check = createHealthCheck([{ name: 'part', without: 'down', probe: () => probes++ }], () => now)
    await Promise.all([check(), check(), check()])
    expect(probes).toBe(1)
    now = 1000
    await check()
    expect(probes).toBe(2)
  })
})

describe('the status page', () => {
  test('is HTML for browsers and JSON for everybody else', async () => {
    const browser = await call<string>(`${server.url}/status`, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
    expect(browser.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(browser.body).toContain('Everything works')
    expect(browser.body).not.toMatch(/https?:\/\/|<script/)
    expectConventions(browser)
    const script = await call(`${server.url}/status`)
    expect(script.body).toMatchObject({ status: 'ok', incidents: [] })
    expect((await call(`${server.url}/status`, { headers: { accept: 'application/json' } })).body).toMatchObject({ status: 'ok' })
  })

  test('keeps markup inert', () => {
    const page = renderStatusPage({ status: 'down', components: [{ name: '<img src=x onerror=alert(1)>', status: 'down' }] }, new Date(0))
    expect(page).not.toContain('<img')
    expect(page).toContain('&lt;img')
  })
})
