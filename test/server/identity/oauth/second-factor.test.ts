import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PENDING_MS } from '../../../../server/identity/sign-in/pending.ts'
import { proveEmail } from '../../../../server/identity/users/email-proof.ts'
import { call, type Reply } from '../../../support/client.ts'
import { memberPassword, registerTenant } from '../../../support/members.ts'
import type { Visitor } from '../../../support/oauth/visitor.ts'
import { asVisitor, grace, type OAuthWorld, signInWith, startOAuthWorld } from '../../../support/oauth/world.ts'
import { enableTwoFactor, totpAt } from '../../../support/two-factor.ts'

const STEP_MS = 30_000
let world: OAuthWorld
let secret: string
let recoveryCodes: string[]
/** Each code is good once, so each test is in a later step. */
let clockMs = 0
const now = () => Date.now() + clockMs

beforeAll(async () => {
  world = await startOAuthWorld({ parts: { now } })
  const { cookie, userId } = await registerTenant(world.server, grace.email ?? '')
  proveEmail(world.server.db, userId, Date.now())
  const enabled = await enableTwoFactor(world.server, { cookie, password: memberPassword }, now)
  secret = enabled.secret
  recoveryCodes = enabled.recoveryCodes
})
afterAll(() => world.close())

const pendingOf = (visitor: Visitor) => visitor.cookie(new URL(world.publicUrl).host, 'cpd_pending')
const sessionOf = (visitor: Visitor) => visitor.cookie(new URL(world.publicUrl).host, 'cpd_session')

async function sendCode(visitor: Visitor, otp: string, pending = pendingOf(visitor)): Promise<Reply> {
  const reply = await call(`${world.publicUrl}/v1/auth/login/code`, { json: { otp }, cookie: `cpd_pending=${pending}` })
  visitor.keep(new URL(world.publicUrl).host, reply.headers)
  return reply
}

describe('an account with a second factor', () => {
  test('has a provider’s word for the first only: the code is asked for, on the way to the page that was wanted', async () => {
    const { path, visitor } = await signInWith(world, 'github', grace, { query: { returnTo: '/device' } })
    expect(path).toBe('/login/code?returnTo=%2Fdevice')
    expect(sessionOf(visitor)).toBeUndefined()
    clockMs += STEP_MS
    expect((await sendCode(visitor, totpAt(secret, now()))).status).toBe(200)
    const me = await call(`${world.publicUrl}/v1/users`, asVisitor(world, visitor))
    expect(me.body).toMatchObject({ email: grace.email })
  })

  test('takes a recovery code, and the sign-in that waited is used up', async () => {
    const { visitor } = await signInWith(world, 'google', grace)
    const pending = pendingOf(visitor)
    expect((await sendCode(visitor, recoveryCodes[0] ?? '')).status).toBe(200)
    expect((await sendCode(visitor, recoveryCodes[1] ?? '', pending)).status).toBe(401)
  })

  test('is not entered with a wrong code, one that was used, or too late', async () => {
    const { visitor } = await signInWith(world, 'apple', grace)
    clockMs += STEP_MS
    const code = totpAt(secret, now())
    expect((await sendCode(visitor, code === '000000' ? '111111' : '000000')).status).toBe(401)
    expect((await sendCode(visitor, code)).status).toBe(200)
    const second = await signInWith(world, 'apple', grace)
    expect((await sendCode(second.visitor, code)).status).toBe(401)
    clockMs += PENDING_MS
    expect((await sendCode(second.visitor, totpAt(secret, now()))).status).toBe(401)
    expect(sessionOf(second.visitor)).toBeUndefined()
  })

  test('is not entered without a sign-in that waits', async () => {
    clockMs += STEP_MS
    const reply = await call(`${world.publicUrl}/v1/auth/login/code`, {
      json: { otp: totpAt(secret, now()) },
      cookie: 'cpd_pending=guessed',
    })
    expect(reply.status).toBe(401)
  })
})

test('guesses of the code are limited as those of the password are', async () => {
  const strict = await startOAuthWorld({ env: { CP_LOGIN_LIMIT: '3' } })
  try {
    const { cookie, userId } = await registerTenant(strict.server, grace.email ?? '')
    proveEmail(strict.server.db, userId, Date.now())
    await enableTwoFactor(strict.server, { cookie, password: memberPassword })
    const { visitor } = await signInWith(strict, 'github', grace)
    const pending = visitor.cookie(new URL(strict.publicUrl).host, 'cpd_pending')
    const guess = async () =>
      (await call(`${strict.publicUrl}/v1/auth/login/code`, { json: { otp: '12345x' }, cookie: `cpd_pending=${pending}` })).status
    expect([await guess(), await guess(), await guess(), await guess()]).toEqual([401, 401, 401, 429])
  } finally {
    await strict.close()
  }
})
