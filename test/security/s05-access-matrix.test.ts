import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OperationId, operationIds, operationOf } from '../../shared/operations/all.ts'
import type { Permission } from '../../shared/permission.ts'
import { expectConventions } from '../conformance/expect-error.ts'
import { call, type Reply } from '../support/client.ts'
import { defaultWorkspaceId } from '../support/members.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { type Caller, makeCallers, makeCustomCallers } from './access/callers.ts'
import { expected } from './access/expected.ts'
import { makeThings, requestOn } from './access/request.ts'
import { type Place, thingsOf } from './access/things.ts'

let server: TestServer
let place: Place
let callers: Caller[]
let custom: ReadonlyMap<Permission, readonly Caller[]>
beforeAll(async () => {
  server = await startTestServer({ env: { CP_LOGIN_LIMIT: '1000000' } })
  place = { server, workspaceId: await defaultWorkspaceId(server), token: server.adminToken }
  callers = await makeCallers(place)
  custom = await makeCustomCallers(place)
})
afterAll(() => server.close())

test('S5: every operation has its entry, and no entry is of none', () => {
  expect(Object.keys(expected).sort()).toEqual([...operationIds].sort())
})

async function ask(id: OperationId, caller: Caller): Promise<Reply<{ message?: string }>> {
  const ids = await makeThings(id, thingsOf({ ...place, ...(caller.userId === undefined ? {} : { userId: caller.userId }) }))
  const { path, options } = requestOn(id, ids)
  const { headers, ...credentials } = caller.credentials(ids)
  return await call(server.url + path, { ...options, ...credentials, headers: { ...options.headers, ...headers } })
}

const statusFor = (id: OperationId, { name }: Caller): number | undefined =>
  (name.startsWith('a key of') ? expected[id].withKey : undefined) ?? expected[id].status

/** What is public looks at nobody; some of it may be asked a few times only. */
const callersOf = (id: OperationId): readonly Caller[] =>
  operationOf(id).access === 'public' ? callers.slice(0, 1) : [...callers, ...(custom.get(operationOf(id).access as Permission) ?? [])]

describe.each(operationIds)('S5: %s', (id) => {
  test('needs what its entry says', () => {
    expect(operationOf(id).access).toBe(expected[id].needs)
    if (operationOf(id).usersOnly) expect(expected[id].isPersonal).toBe(true)
  })

  test('answers each caller as their rights say, in their own workspace', async () => {
    const wrong: string[] = []
    for (const caller of callersOf(id)) {
      const verdict = caller.verdict(id)
      const reply = await ask(id, caller)
      expectConventions(reply)
      const right = verdict === 'let in' ? statusFor(id, caller) : verdict
      if (reply.status !== right) wrong.push(`${caller.name}: ${reply.status} in place of ${right} (${reply.body?.message ?? ''})`)
      // Whoever lacks the permission is told its name.
      if (verdict === 403 && caller.name.startsWith('a key of') && !expected[id].isPersonal)
        expect(reply.body.message).toContain(operationOf(id).access)
    }
    expect(wrong).toEqual([])
  })
})
