/** Started by auth.ts as a process of its own. Prints the processor time of a request without authentication, with a key and with a cookie. */
import { Type } from '@sinclair/typebox'
import type { AnyHandler } from '../../server/http/handlers/call.ts'
import { createAddressReader } from '../../server/http/limits/client-address.ts'
import { createRateLimits } from '../../server/http/limits/rate-limits.ts'
import { mountAll } from '../../server/http/mount/mount-all.ts'
import type { HttpParts } from '../../server/http/requests/parts.ts'
import { createSocketHub } from '../../server/http/sockets/sockets.ts'
import { createIdentify } from '../../server/identity/credentials/identify.ts'
import { createUseRecorder } from '../../server/identity/credentials/use-recorder.ts'
import { defineOperations } from '../../shared/operation.ts'
import { addPerson, addRole, beginSession } from '../support/access.ts'
import { defaultWorkspaceId, makeKey } from '../support/members.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const WARM_UP = 20_000
const MEASURED = 50_000
const ROUNDS = 5
/** So many other keys and sessions are in the tables. */
const OTHERS = 1000

const entry = { method: 'GET', tag: 'Bench', summary: 'Answers', responses: { 200: Type.Object({ isHere: Type.Boolean() }) } } as const
const table = defineOperations({
  open: { ...entry, path: '/open', access: 'public' },
  guarded: { ...entry, path: '/guarded', access: 'services.read' },
})
const answer: AnyHandler<null> = () => ({ isHere: true })

if (import.meta.main) {
  const server = await startTestServer()
  const { elysia } = mountAll(table, { open: answer, guarded: answer }, { parts: partsOf(server), context: null })
  const workspaceId = await defaultWorkspaceId(server)
  const place = { server, workspaceId }
  for (let n = 0; n < OTHERS; n++) beginSession(server, addPerson(place, 'viewer'))
  const custom = addRole(place, ['services.read', 'logs.read'])
  const requests: Record<string, [string, Record<string, string>]> = {
    bare: ['/open', {}],
    key: ['/guarded', { authorization: `Bearer ${(await makeKey(server, 'viewer')).secret}` }],
    'key of a custom role': ['/guarded', { authorization: `Bearer ${(await makeKey(server, custom)).secret}` }],
    cookie: ['/guarded', { cookie: beginSession(server, addPerson(place, 'viewer')) }],
  }
  const best: Record<string, number> = {}
  // In turns, so that whatever else the machine does falls on all of them; the least of the rounds is the cost.
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, [path, headers]] of Object.entries(requests)) {
      const ask = async () => {
        const { status } = await elysia.fetch(new Request(`http://127.0.0.1${path}`, { headers }))
        if (status !== 200) throw new Error(`${name}: ${status}`)
      }
      if (round === 0) for (let n = 0; n < WARM_UP; n++) await ask()
      best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, await processorTimeOf(ask))
    }
  }
  console.log(JSON.stringify(best))
  await server.close()
  process.exit(0)
}

/** Microseconds of processor time of one call. */
async function processorTimeOf(ask: () => Promise<void>): Promise<number> {
  Bun.gc(true)
  const before = process.cpuUsage()
  for (let n = 0; n < MEASURED; n++) await ask()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / MEASURED
}

function partsOf({ db, context }: TestServer): HttpParts {
  const { log, now } = context
  return {
    identify: createIdentify({ db, staticToken: context.config.SERVICE_API_TOKEN, keyUse: createUseRecorder({ db, log }), now }),
    audit: { record: (_, apply) => apply(), denied() {} },
    limits: createRateLimits({ requests: 0, writes: 0, deploys: 0, signIns: 0 }, now),
    cors: undefined,
    idempotency: { begin: () => 'begun', finish() {}, abandon() {} },
    addressOf: createAddressReader(() => false),
    ownOrigins: () => new Set(),
    server: () => null,
    sockets: createSocketHub(),
    log,
    errorPage: () => new Response('page'),
    isHttps: false,
    maxBodyBytes: {},
  }
}
