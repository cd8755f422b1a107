import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { call } from '../support/client.ts'
import { freePorts } from '../support/free-ports.ts'
import { createVisitor } from '../support/oauth/visitor.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

/**
 * An issuer that the operator has named and that has turned bad: what it says of itself leads into our network. 127.0.0.1 is its own host,
 * 127.0.0.2 another one.
 */
let visits: number
let canary: Bun.Server<undefined>
let issuer: Bun.Server<undefined>
let metadata: (own: string, inside: string) => Response
let server: TestServer
let publicUrl: string

beforeEach(async () => {
  visits = 0
  canary = Bun.serve({
    hostname: '127.0.0.2',
    port: 0,
    fetch() {
      visits++
      return Response.json({ keys: [] })
    },
  })
  issuer = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => metadata(`http://127.0.0.1:${issuer.port}`, `http://127.0.0.2:${canary.port}`),
  })
  const [port = 0] = freePorts(1)
  publicUrl = `http://localhost:${port}`
  const settings = { CP_GOOGLE_CLIENT_ID: 'id', CP_GOOGLE_CLIENT_SECRET: 'secret', CP_GOOGLE_ISSUER: `http://127.0.0.1:${issuer.port}` }
  server = await startTestServer({ env: { ...settings, CP_LISTEN: `127.0.0.1:${port}`, CP_PUBLIC_URL: publicUrl } })
})
afterEach(async () => {
  await server.close()
  await Promise.all([canary.stop(true), issuer.stop(true)])
})

const describedAs = (changes: (inside: string) => Record<string, string>) => (own: string, inside: string) =>
  Response.json({
    issuer: own,
    authorization_endpoint: `${own}/authorize`,
    token_endpoint: `${own}/token`,
    jwks_uri: `${own}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    ...changes(inside),
  })

/** Signs in, with an answer that an issuer would give. */
async function signIn(): Promise<string> {
  const visitor = createVisitor()
  const begun = await visitor.open(`${publicUrl}/v1/auth/oauth/google`)
  const location = new URL(begun.location ?? '')
  if (location.origin === publicUrl) return location.search
  const state = location.searchParams.get('state') ?? ''
  const end = await visitor.open(`${publicUrl}/v1/auth/oauth/google/callback?${new URLSearchParams({ code: 'c', state })}`)
  return new URL(end.location ?? '').search
}

describe('S18: an issuer', () => {
  test('that names a private host for its tokens is not followed there', async () => {
    metadata = describedAs((inside) => ({ token_endpoint: `${inside}/token` }))
    expect(await signIn()).toBe('?error=oauth_refused')
    expect(visits).toBe(0)
  })

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'https://169.254.169.254/',
    'https://10.0.0.1/token',
    'http://example.com/token',
    'file:///etc/passwd',
  ])('that names %s for its tokens is refused', async (token_endpoint) => {
    metadata = describedAs(() => ({ token_endpoint }))
    expect(await signIn()).toBe('?error=oauth_refused')
  })

  test('that redirects its metadata elsewhere is not followed', async () => {
    metadata = (_, inside) => Response.redirect(`${inside}/.well-known/openid-configuration`, 302)
    expect(await signIn()).toBe('?error=oauth_refused')
    expect(visits).toBe(0)
  })

  test('that describes another issuer is refused', async () => {
    metadata = describedAs(() => ({ issuer: 'https://accounts.google.com' }))
    expect(await signIn()).toBe('?error=oauth_refused')
  })

  test.each(['http://example.com/authorize', 'javascript:alert(1)', 'data:text/html,x'])(
    'that sends its users to %s is refused',
    async (url) => {
      metadata = describedAs(() => ({ authorization_endpoint: url }))
      expect(await signIn()).toBe('?error=oauth_refused')
    },
  )

  test('that answers without end is cut off', async () => {
    metadata = () => new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) }))
    expect(await signIn()).toBe('?error=oauth_unavailable')
  })
})

test('S18: the address that would be led to is there', async () => {
  await call(`http://127.0.0.2:${canary.port}/`)
  expect(visits).toBe(1)
})
