import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ATTEMPT_MS } from '../../server/identity/oauth/attempt-store.ts'
import { type ProviderId, providerIds } from '../../shared/oauth.ts'
import { call } from '../support/client.ts'
import { registerTenant } from '../support/members.ts'
import type { ProviderAccount } from '../support/oauth/account-page.ts'
import { createVisitor, type Page, type Visitor } from '../support/oauth/visitor.ts'
import {
  ada,
  asVisitor,
  chooseAccount,
  comeBack,
  goToProvider,
  grace,
  mallory,
  type OAuthWorld,
  signInWith,
  startOAuthWorld,
} from '../support/oauth/world.ts'

/** Every attack goes over real HTTP, against a server whose clock the test holds. */
let world: OAuthWorld
let clockMs = 0
beforeAll(async () => {
  world = await startOAuthWorld({ parts: { now: () => Date.now() + clockMs } })
})
afterAll(() => world.close())
afterEach(() => {
  clockMs = 0
  world.github.sent.iss = `${world.github.url}/login/oauth`
  delete world.apple.tamper.claims
  delete world.apple.tamper.token
  delete world.google.tamper.tokens
})

const host = () => new URL(world.publicUrl).host
const isSignedIn = (visitor: Visitor) => visitor.cookie(host(), 'cpd_session') !== undefined
const expired = '/login?error=oauth_expired'
const refused = '/login?error=oauth_refused'

/** Everything up to the answer, which is at hand and not sent. */
async function answerOf(
  id: ProviderId,
  account: ProviderAccount,
  visitor = createVisitor(),
): Promise<{ visitor: Visitor; answer: Page; location: URL }> {
  const page = await goToProvider(world, id, { visitor })
  const answer = await chooseAccount(world, page, { visitor, account })
  return { visitor, answer, location: new URL(answer.location ?? world.publicUrl) }
}

const endOf = async (visitor: Visitor, url: URL): Promise<string> => {
  const end = await visitor.follow(await visitor.open(url.href), (next) => !next.includes('/v1/'))
  return (end.location ?? String(end.status)).replace(world.publicUrl, '')
}

describe.each(['github', 'google'] as const)('S16: an answer of %s', (id) => {
  test('with another state than that of the browser signs nobody in', async () => {
    const { visitor, location } = await answerOf(id, ada)
    const other = await answerOf(id, ada)
    for (const state of ['', 'x', other.location.searchParams.get('state') ?? '']) {
      const changed = new URL(location)
      changed.searchParams.set('state', state)
      expect(await endOf(visitor, changed)).toBe(expired)
    }
    expect(isSignedIn(visitor)).toBe(false)
  })

  test('that was brought once is not taken again', async () => {
    const { visitor, location } = await answerOf(id, ada)
    expect(await endOf(visitor, location)).toBe('/')
    expect(await endOf(visitor, location)).toBe(expired)
  })

  test('brought by two requests at once is taken of one of them', async () => {
    const { visitor, location } = await answerOf(id, ada)
    const ends = await Promise.all([endOf(visitor, location), endOf(visitor, location)])
    expect(ends.sort()).toEqual(['/', expired])
  })

  test('in another browser than the one that began is refused, and stays good for that one', async () => {
    const { visitor, location } = await answerOf(id, ada)
    const thief = createVisitor()
    expect(await endOf(thief, location)).toBe(expired)
    await goToProvider(world, id, { visitor: thief })
    expect(await endOf(thief, location)).toBe(expired)
    expect(isSignedIn(thief)).toBe(false)
    expect(await endOf(visitor, location)).toBe('/')
  })

  test('that comes too late is refused', async () => {
    const { visitor, location } = await answerOf(id, ada)
    clockMs = ATTEMPT_MS + 1
    expect(await endOf(visitor, location)).toBe(expired)
  })

  test('with the code of another sign-in is refused: the verifier is not its own', async () => {
    const { visitor, location } = await answerOf(id, ada)
    const other = await answerOf(id, grace)
    location.searchParams.set('code', other.location.searchParams.get('code') ?? '')
    expect(await endOf(visitor, location)).toBe(refused)
    expect(isSignedIn(visitor)).toBe(false)
  })

  test('with a code that nobody gave is refused, and the attempt is over', async () => {
    const { visitor, location } = await answerOf(id, ada)
    const forged = new URL(location)
    forged.searchParams.set('code', 'forged')
    expect(await endOf(visitor, forged)).toBe(refused)
    expect(await endOf(visitor, location)).toBe(expired)
  })

  test('that another issuer has given is refused (RFC 9207)', async () => {
    const { visitor, location } = await answerOf(id, ada)
    location.searchParams.set('iss', 'https://evil.example')
    expect(await endOf(visitor, location)).toBe(refused)
    expect(isSignedIn(visitor)).toBe(false)
  })

  test('at the callback of another provider is refused', async () => {
    const { visitor, location } = await answerOf(id, ada)
    for (const other of providerIds.filter((one) => one !== id)) {
      expect(await endOf(visitor, new URL(location.href.replace(`/oauth/${id}/`, `/oauth/${other}/`)))).toBe(expired)
    }
    expect(isSignedIn(visitor)).toBe(false)
  })
})

test('S16: an issuer that says it names itself must do so', async () => {
  const { visitor, location } = await answerOf('google', ada)
  expect(location.searchParams.get('iss')).toBe(world.google.issuer)
  location.searchParams.delete('iss')
  expect(await endOf(visitor, location)).toBe(refused)
})

test('S16: a GitHub that does not name itself is taken as it is documented', async () => {
  world.github.sent.iss = undefined
  expect((await signInWith(world, 'github', ada)).path).toBe('/')
})

describe('S16: a form of Apple', () => {
  const formOf = ({ text }: Page) =>
    Object.fromEntries(
      [...text.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [
        name,
        value?.replace(/&#(\d+);/g, (_, c) => String.fromCharCode(Number(c))),
      ]),
    ) as Record<string, string>
  const callback = () => `${world.publicUrl}/v1/auth/oauth/apple/callback`

  test('sent by somebody else into a browser that began nothing signs nobody in', async () => {
    const attacker = await answerOf('apple', mallory)
    const victim = createVisitor()
    expect((await comeBack(world, attacker.answer, victim)).replace(world.publicUrl, '')).toBe(expired)
    expect(isSignedIn(victim)).toBe(false)
  })

  test('is taken once: a second one with other contents changes nothing', async () => {
    const { visitor, answer } = await answerOf('apple', ada)
    const form = formOf(answer)
    const other = formOf((await answerOf('apple', grace)).answer)
    const post = (fields: Record<string, string>) =>
      createVisitor().open(callback(), { form: fields, headers: { origin: world.apple.url } })
    expect((await post(form)).location).toBe(`${callback()}?state=${form.state}`)
    expect((await post({ ...form, code: other.code ?? '' })).location).toContain('oauth_expired')
    expect(await endOf(visitor, new URL(`${callback()}?state=${form.state}&code=${other.code}`))).toBe('/')
    const me = await call(`${world.publicUrl}/v1/users`, asVisitor(world, visitor))
    expect(me.body).toMatchObject({ email: ada.email })
  })

  test('with an unknown state, at another provider, or without anything is refused', async () => {
    const { answer } = await answerOf('apple', ada)
    const form = formOf(answer)
    const post = async (fields: Record<string, string>, id = 'apple') =>
      (await createVisitor().open(callback().replace('apple', id), { form: fields, headers: { origin: world.apple.url } })).location
    expect(await post({ ...form, state: 'x' })).toContain('oauth_expired')
    expect(await post(form, 'github')).toContain('oauth_expired')
    expect(await post({ error: 'access_denied' })).toContain('oauth_expired')
  })

  test('acts for nobody: the session of the browser that sends it is not looked at', async () => {
    const tenant = await registerTenant(world.server, 'bystander@example.com')
    const reply = await call(callback(), {
      raw: 'state=x&code=y',
      cookie: tenant.cookie,
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://evil.example' },
    })
    expect(reply.status).toBe(303)
    expect(reply.headers.getSetCookie()).toEqual([])
  })
})

describe('S16: an ID token', () => {
  const wrong: [string, (claims: Record<string, unknown>) => void][] = [
    ['of another nonce', (claims) => Object.assign(claims, { nonce: 'another' })],
    ['without a nonce', (claims) => delete claims.nonce],
    ['for another audience', (claims) => Object.assign(claims, { aud: 'com.example.other' })],
    ['of another issuer', (claims) => Object.assign(claims, { iss: 'https://evil.example' })],
    ['that has expired', (claims) => Object.assign(claims, { exp: Math.floor(Date.now() / 1000) - 120 })],
    ['without a subject', (claims) => delete claims.sub],
  ]

  test.each(wrong)('%s is refused', async (_, change) => {
    world.apple.tamper.claims = change
    const { path, visitor } = await signInWith(world, 'apple', ada)
    expect(path).toBe(refused)
    expect(isSignedIn(visitor)).toBe(false)
  })

  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const decoded = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  const altered = (token: string) => {
    const [head, body, signature] = token.split('.')
    return `${head}.${encoded({ ...decoded(body), sub: 'somebody-else', email: ada.email, email_verified: true })}.${signature}`
  }
  const unsigned = (token: string) => `${encoded({ alg: 'none' })}.${token.split('.')[1]}.`
  const symmetric = (token: string) => `${encoded({ alg: 'HS256' })}.${token.split('.')[1]}.${Buffer.from('x').toString('base64url')}`

  test.each([
    ['altered after it was signed', altered],
    ['without a signature', unsigned],
    ['of another algorithm', symmetric],
  ])('%s is refused, of every provider', async (_, change) => {
    world.apple.tamper.token = change
    world.google.tamper.tokens = (answer) => {
      if (typeof answer.id_token === 'string') answer.id_token = change(answer.id_token)
    }
    for (const id of ['apple', 'google'] as const) expect((await signInWith(world, id, ada)).path).toBe(refused)
  })

  test('that is missing is refused', async () => {
    world.google.tamper.tokens = (answer) => delete answer.id_token
    expect((await signInWith(world, 'google', ada)).path).toBe(refused)
  })
})

describe('S16: what a page may be returned to', () => {
  test.each(['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)', '/a\nb', '/\t/evil.example', 'evil'])(
    'is a path of ours, not %j',
    async (returnTo) => {
      const reply = await call(`${world.publicUrl}/v1/auth/oauth/github?${new URLSearchParams({ returnTo })}`)
      expect(reply.status).toBe(400)
    },
  )
})

test('S16: links and redirects use the public URL, whatever the Host header says', async () => {
  const reply = await call(`${world.server.url}/v1/auth/oauth/github`, { headers: { host: 'evil.example' } })
  expect(new URL(reply.headers.get('location') ?? '').searchParams.get('redirect_uri')).toBe(
    `${world.publicUrl}/v1/auth/oauth/github/callback`,
  )
})

test('S16: neither the database nor the log holds a state, verifier or code in clear', async () => {
  const { location } = await answerOf('github', ada)
  const rows = JSON.stringify(world.server.db.query('SELECT * FROM oauth_attempts').all())
  expect(rows).not.toContain(location.searchParams.get('state') ?? 'none')
  const { visitor, answer } = await answerOf('google', ada)
  await comeBack(world, answer, visitor)
  const code = new URL(answer.location ?? '').searchParams.get('code') ?? 'none'
  expect(world.server.logged.join('')).not.toContain(code)
  expect(JSON.stringify(world.server.db.query('SELECT * FROM audit_log').all())).not.toContain(code)
})

test('S16: the cookie of an attempt is out of reach of scripts and of requests that other sites make', async () => {
  const reply = await call(`${world.publicUrl}/v1/auth/oauth/github`)
  expect(reply.headers.get('set-cookie')).toMatch(/^cpd_oauth=[\w-]{43}; Path=\/; Max-Age=900; HttpOnly; SameSite=Lax$/)
})
