import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SpawnedProcess, spawnProcess } from '../../../../server/platform/process/spawn.ts'
import { expectConventions } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'

/** In a process of its own: only Bun itself gives the paths of embedded files that the page's assets are served from. */
let child: SpawnedProcess
let url: string
beforeAll(async () => {
  child = spawnProcess([process.execPath, join(import.meta.dirname, '../../../bench/api-server.ts')], {
    env: {},
    stdin: 'pipe',
    stdout: 'pipe',
  })
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += new TextDecoder().decode(chunk)
    if (text.includes('\n')) break
  }
  url = `http://127.0.0.1:${JSON.parse(text).port}`
})
afterAll(async () => {
  child.stdin?.end()
  await child.exited
})

test('Swagger UI comes whole from here, under a policy that lets nothing else in', async () => {
  const page = await call<string>(`${url}/docs`)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const policy = page.headers.get('content-security-policy') ?? ''
  for (const rule of ["default-src 'none';", "script-src 'self';", "connect-src 'self';", "frame-ancestors 'none'"])
    expect(policy).toContain(rule)
  expect(page.body).not.toMatch(/https?:\/\//)
  expect(page.body).not.toMatch(/<script>| on[a-z]+=/)
  expect(page.body).toContain('<a href="/docs/guide">')
  const assets = [...page.body.matchAll(/<(?:script|link)[^>]* (?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path)
  expect(assets).toHaveLength(3)
  for (const path of assets) {
    const reply = await call<string>(`${url}${path}`)
    expect({ path, status: reply.status }).toEqual({ path, status: 200 })
    expect(reply.headers.get('content-type')).toMatch(/^text\/(javascript|css); charset=utf-8$/)
    expect(reply.body.length).toBeGreaterThan(100)
    expectConventions(reply)
  }
})

test('the start of Swagger UI asks no other host and keeps what was authorized', async () => {
  const { body } = await call<string>(`${url}/docs/start.js`)
  expect(body).toContain("url: '/docs/json'")
  expect(body).toContain('validatorUrl: null')
  expect(body).toContain('persistAuthorization: true')
})
