import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createIngressClient, type IngressClient } from '../../../../server/ingress/control/client.ts'
import { ensureIngress, type IngressStart } from '../../../../server/ingress/process/supervise.ts'
import { makeCertificate } from '../../../support/certificates.ts'
import { freePorts } from '../../../support/free-ports.ts'
import { exchangeRaw } from '../world.ts'
import { beginPostgres, type Conversation } from './conversation.ts'
import { type FakePostgres, greeting, KEY, READY, startFakePostgres } from './fake-postgres.ts'
import { cancelRequest, message } from './packets.ts'
import { PG_HOST, PG_ID, postgresAt } from './world.ts'

const ingressProgram = fileURLToPath(new URL('../processes/ingress-program.ts', import.meta.url))

let dir: string
let client: IngressClient
let database: FakePostgres
let ports: number[]
let root: string

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'cpd-hand-over-databases-'))
  client = createIngressClient(join(dir, 'ingress.sock'))
  database = startFakePostgres()
  ports = freePorts(3)
  const { certificate, privateKey } = await makeCertificate({ names: [PG_HOST] })
  root = certificate
  await ensureIngress(wanted(1))
  await client.publish({ version: 1, hosts: {}, databases: { [PG_ID]: postgresAt(database.port) } })
  const served = { id: 'crt-a', hosts: [PG_HOST], certificate, sealedKey: privateKey, isTrusted: false }
  await client.publishCertificates({ version: 1, certificates: [served], challenges: [] })
})

afterEach(async () => {
  await client.shutdown().catch(() => undefined)
  database.stop()
  rmSync(dir, { recursive: true, force: true })
})

function wanted(version: number): IngressStart {
  const at = (name: string) => join(dir, name)
  const [http, tls, postgres] = ports
  const tables = [at('routes.json'), String(version), String(tls), at('certificates.json'), String(postgres)]
  return {
    command: [process.execPath, ingressProgram, String(http), at('ingress.sock'), ...tables],
    controlSocketPath: at('ingress.sock'),
    outputPath: at('ingress.log'),
    listen: { host: '127.0.0.1', port: http ?? 0 },
    listenTls: { host: '127.0.0.1', port: tls ?? 0 },
    version: String(version),
    log: () => {},
  }
}

const begin = (): Promise<Conversation> => beginPostgres({ root, postgresPort: ports[2] ?? 0 })

async function ask(session: Conversation): Promise<void> {
  const before = (await session.hears((text) => text.length >= greeting.length)).length
  session.say(message('Q', 'SELECT 1\0'))
  await session.hears((text) => text.length === before + READY.length)
}

test('an ingress that is replaced cuts no session, nobody is refused meanwhile, and what runs is cancelled through the next one', async () => {
  const sessions = [await begin(), await begin()]
  for (const session of sessions) await ask(session)
  let isOver = false
  let begun = 0
  const beginning = (async () => {
    while (!isOver) {
      const session = await begin()
      await ask(session)
      session.socket.destroy()
      begun++
    }
  })()
  for (let version = 2; version <= 6; version++) {
    await ensureIngress(wanted(version))
    expect((await client.status()).version).toBe(String(version))
    sessions.push(await begin())
    for (const session of sessions) await ask(session)
  }
  isOver = true
  await beginning
  expect(begun).toBeGreaterThan(5)
  const before = database.heard.length
  await exchangeRaw(ports[2] ?? 0, cancelRequest(42, KEY))
  expect(database.heard.slice(before)).toContainEqual(cancelRequest(42, KEY))
  for (const session of sessions) session.socket.destroy()
})
