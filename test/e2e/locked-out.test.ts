import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PasswordResetLink } from '../../shared/account.ts'
import type { AuditEntry } from '../../shared/audit.ts'
import type { TeamInviteCreated } from '../../shared/team.ts'
import { call, cookieOf, type Reply } from '../support/client.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl } from '../support/compiled-steps.ts'
import { nextTotp, totpAt } from '../support/two-factor.ts'

interface Person {
  id: string
  email: string
  cookie: string
}

let cpd: Compiled
beforeAll(async () => {
  cpd = await startCompiled({ env: { CP_REGISTRATION: 'invite' } })
})
afterAll(() => cpd.stop())

const post = <T = Record<string, unknown>>(
  path: string,
  json: unknown,
  options: { cookie?: string; method?: string } = {},
): Promise<Reply<T>> => call<T>(`${cpd.apiUrl}/v1${path}`, { method: 'POST', json, headers: { origin: cpd.apiUrl }, ...options })
const login = (email: string, password: string, otp?: string) =>
  post('/auth/login', { email, password, ...(otp === undefined ? {} : { otp }) })

const personOf = (reply: Reply<{ user: { id: string; email: string } }>): Person => ({ ...reply.body.user, cookie: cookieOf(reply) })

/** Somebody whom the operator invites, and who accepts. */
async function join(email: string, password: string): Promise<Person> {
  const invite = JSON.parse(await cpctl(cpd, 'invites', 'create', email, '--role', 'admin', '--json')) as TeamInviteCreated
  return personOf(await post('/team-invites/accept', { token: invite.token, name: email, password }))
}

/** Switches two-factor sign-in on, and gives the secret that is going to be lost. */
async function guard({ cookie }: Person, password: string): Promise<string> {
  const { body } = await post<{ secret: string }>('/auth/two-factor', { password }, { cookie })
  expect((await post('/auth/two-factor/confirm', { code: totpAt(body.secret, Date.now()) }, { cookie })).status).toBe(200)
  return body.secret
}

/** What the operator does for somebody with `cpctl` and the static token. */
async function helpBackIn(idOrEmail: string, password: string): Promise<void> {
  await cpctl(cpd, 'team', 'reset-two-factor', idOrEmail, '--yes')
  const link = JSON.parse(await cpctl(cpd, 'team', 'reset-password', idOrEmail, '--json')) as PasswordResetLink
  const token = new URL(link.url ?? '').searchParams.get('token')
  expect((await post('/auth/password-reset/confirm', { token, password })).status).toBe(204)
}

test('everybody is locked out, the static token lets them back in with cpctl, and the log tells it', async () => {
  const seeded = personOf((await login('admin@localhost', 'correct horse battery')) as Reply<{ user: { id: string; email: string } }>)
  const bob = await join('bob@example.com', 'forgotten by bob')
  const carol = await join('carol@example.com', 'forgotten by carol')
  const secrets = [
    await guard(seeded, 'correct horse battery'),
    await guard(bob, 'forgotten by bob'),
    await guard(carol, 'forgotten by carol'),
  ]
  const owners = await call<{ owner: { id: string } }[]>(`${cpd.apiUrl}/v1/owners`, { cookie: bob.cookie })
  const workspaceId = owners.body[0]?.owner.id ?? ''
  expect((await post(`/workspaces/${workspaceId}`, { requiresTwoFactor: true }, { cookie: bob.cookie, method: 'PATCH' })).status).toBe(200)

  // The administrator of the first start is demoted by one, and removed by another.
  await post(`/team-members/${seeded.id}`, { role: 'viewer' }, { cookie: bob.cookie, method: 'PATCH' })
  const removed = await call(`${cpd.apiUrl}/v1/team-members/${seeded.id}`, {
    method: 'DELETE',
    cookie: carol.cookie,
    headers: { origin: cpd.apiUrl },
  })
  expect(removed.status).toBe(204)
  expect((await login(seeded.email, 'correct horse battery', nextTotp(secrets[0] ?? ''))).status).toBe(403)

  // Nobody remembers anything, everybody has logged out, and by trying they have used up their tries.
  for (const { cookie } of [bob, carol]) {
    await call(`${cpd.apiUrl}/v1/auth/logout`, { method: 'POST', cookie, headers: { origin: cpd.apiUrl } })
  }
  const tries: number[] = []
  for (let n = 0; n < 11; n++) tries.push((await login(bob.email, `what was it? ${n}`)).status)
  expect([tries[0], tries.at(-1)]).toEqual([401, 429])
  const asked = await post<{ message: string }>('/auth/password-reset', { email: bob.email })
  expect(asked.body.message).toMatch(/sends no mail/)

  // The operator still has the static token.
  expect(await cpctl(cpd, 'whoami')).toMatch(/Role: +admin/)
  await helpBackIn(bob.email, 'a new word for bob')
  await helpBackIn(carol.email, 'a new word for carol')
  await helpBackIn(seeded.id, 'a new word for the first one')

  // The limit on tries from this address is the one thing that waits, so the server is started anew.
  await cpd.terminate()
  await cpd.start()
  const back = personOf((await login(bob.email, 'a new word for bob')) as Reply<{ user: { id: string; email: string } }>)
  const services = () => call(`${cpd.apiUrl}/v1/services`, { cookie: back.cookie })
  expect((await services()).status).toBe(403)
  await guard(back, 'a new word for bob')
  expect((await services()).status).toBe(200)
  expect((await login(carol.email, 'a new word for carol')).status).toBe(200)

  // An account that is in no workspace comes back with an invite and its new password.
  const invite = JSON.parse(await cpctl(cpd, 'invites', 'create', seeded.email, '--role', 'admin', '--json')) as TeamInviteCreated
  const again = await post('/team-invites/accept', { token: invite.token, password: 'a new word for the first one' })
  expect({ status: again.status, body: again.body }).toMatchObject({ body: { user: { id: seeded.id } } })

  await expectLogTellsIt({ bob, carol, seeded })
})

async function expectLogTellsIt(people: Record<'bob' | 'carol' | 'seeded', Person>): Promise<void> {
  const { body } = await cpd.api<{ auditLog: AuditEntry }[]>('/audit-logs?limit=1000')
  const told = body.map(({ auditLog }) => auditLog)
  for (const { id } of Object.values(people)) {
    for (const event of ['member.two_factor_reset', 'member.password_reset']) {
      const entry = told.find((one) => one.event === event && one.target === id)
      expect(entry).toMatchObject({ status: 'success', actor: { type: 'rest_api', id: 'static_token' }, ip: '127.0.0.1' })
    }
  }
  const used = told.filter(({ event }) => event === 'password_reset.used').map(({ target }) => target)
  expect(used).toEqual(expect.arrayContaining([people.bob.id, people.carol.id]))
  const text = JSON.stringify(told)
  for (const word of ['a new word for', 'forgotten by', cpd.token, 'token=']) expect(text).not.toContain(word)
  await cpctl(cpd, 'audit', 'verify')
}
