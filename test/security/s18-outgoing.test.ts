import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationIds, operationOf } from '../../shared/operations/all.ts'
import { requestOf } from '../conformance/requests.ts'
import { type SourceHosts, startSourceHosts } from '../conformance/source-hosts.ts'
import { createService } from '../support/apps.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { bodiesWith } from './string-fields.ts'

const root = join(import.meta.dirname, '../..')
const sources = ['server', 'shared'].flatMap((folder) =>
  [...new Bun.Glob('**/*.ts').scanSync({ cwd: join(root, folder) })].map((path) => `${folder}/${path}`),
)
const codeOf = (path: string): string => readFileSync(join(root, path), 'utf8').replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g, '')

/**
 * Every file of the server that opens connections, and who says where to. A tenant never does. Where a new one takes an address from a
 * tenant (a webhook, a repository), it has to refuse what S18 lists before it belongs here, with a test of its own.
 */
const connecting: Record<string, string> = {
  'server/edge/certificates/acme/client.ts': "the library's own HTTP client is taken out; what it asks for goes through transport.ts",
  'server/edge/certificates/acme/order.ts': 'keys and challenges of the same library, which asks through transport.ts',
  'server/edge/certificates/acme/transport.ts': "the certificate authority: the operator's setting, and what its directory names",
  'server/edge/domains/resolver.ts': "questions to the operator's resolver; the addresses in its answers are compared, never connected to",
  'server/http/mount/head-size.ts': 'opens nothing: it sets how large a head is passed on',
  'server/ingress/control/socket-call.ts': 'a unix socket in the data directory',
  'server/boot/doctor/bait.ts': "listeners of the doctor's own, to see that they answer whoever may reach them",
  'server/boot/doctor/latency.ts': "the doctor's own neighbour, at the address the engine gave it",
  'server/boot/doctor/red-team/network.ts': 'what the doctor tells it to go for, from inside a sandbox',
  'server/ingress/upstream/upstream-connection.ts':
    'instances in the route table, at the address the engine gave them and a port that we have chosen',
  'server/ingress/sockets/connect-within.ts': 'instances in the route table, databases among them, at the address the engine gave them',
  'server/platform/network/socket-way.ts': 'databases that are backed up or followed, at the address the engine gave them',
  'server/boot/commands/doctor-doors.ts': "ports of the operator's own settings, to see who answers there",
  'server/apps/transfers/tools/relay.ts': 'opens nothing: it listens at a socket in a folder of its own',
  'server/apps/transfers/work/target.ts': 'databases that are exported and filled, at the address the engine gave them',
  'server/apps/transfers/source/connect.ts': 'databases that are imported: it connects to checked addresses only',
  'server/platform/network/byte-stream.ts': 'databases that are tunneled to, at the address the engine gave them',
  'server/platform/key-value/snapshot.ts': 'key-value stores, at the address the engine gave them',
  'server/platform/network/dial.ts': 'instances that are probed, at the address the engine gave them',
  'server/builders/toolchains/registry/download.ts': "the registry of npm: the operator's setting, and where its list has the archives",
  'server/platform/mail/mailer.ts': "the mail server: the operator's setting",
  'server/identity/oauth/providers/apple.ts': "the library's client, given that way out: the operator's issuer in the place of Apple",
  'server/identity/oauth/providers/client.ts': 'hands the library its way out, which is server/platform/outgoing/send.ts',
  'server/identity/oauth/providers/github.ts': "the library's client, given that way out: the operator's GitHub and its API",
  'server/identity/oauth/providers/openid.ts':
    "the library's client, given that way out: the operator's issuer, and public hosts that it names",
  'server/platform/outgoing/resolve.ts': 'names of destinations, before their addresses are checked',
  'server/platform/outgoing/send.ts': 'the way out itself: it connects to checked addresses only',
  'server/boot/serve-socket/client.ts': 'a unix socket in the data directory',
  'server/apps/source-hosts/providers/github/tokens.ts': "the library's client, given that way out: the operator's GitHub",
  'server/boot/upgrade/health.ts': 'our own API and ingress; redirects of what is served there are not followed',
}

/** These parts of modules that can open connections cannot. */
const harmless = new Set(['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'STATUS_CODES', 'createSecureContext', 'SecureContext', 'AddressInfo'])
const importOf = /import (type )?(?:\{([^}]*)\}|[\w*]+(?: as \w+)?) from '(?:node:)?(http|https|http2|net|tls|dns|dns\/promises|dgram)'/g
const callsOf = [
  /(?<![.\w])fetch\((?!\w+\??: )/,
  /\b(?:globalThis|Bun)\s*\.\s*fetch\b/,
  /\bBun\s*\.\s*(?:connect|udpSocket|dns|SQL|sql|RedisClient|redis|S3Client|s3)\b/,
  /\bnew (?:WebSocket|EventSource|XMLHttpRequest)\(/,
  /(?:from|import\() ?'(?:acme-client|axios|undici|got|ky|node-fetch|ws|nodemailer|octokit|@octokit\/[\w-]+|openid-client|arctic)'/,
  /\bimport\('(?:node:)?(?:http|https|http2|net|tls|dns|dgram)/,
]

function opensConnections(path: string): boolean {
  const code = codeOf(path).replace(/import type [^\n]* from '[^']*'/g, '')
  if (callsOf.some((pattern) => pattern.test(code))) return true
  return [...code.matchAll(importOf)].some(([, isType, names]) => {
    if (isType !== undefined) return false
    const imported = names?.split(',').map((name) => name.trim()) ?? ['all of it']
    return imported.some((name) => name !== '' && !name.startsWith('type ') && !harmless.has(name))
  })
}

test('S18: only the files that are named here open connections, and nobody but the operator says where to', () => {
  expect(sources.filter((path) => opensConnections(path) && !(path in connecting))).toEqual([])
  expect(Object.keys(connecting).filter((path) => !opensConnections(path))).toEqual([])
})

test('S18: the search for connections finds them', () => {
  expect(opensConnections('server/ingress/upstream/upstream-connection.ts')).toBe(true)
  expect(opensConnections('server/ingress/control/socket-call.ts')).toBe(true)
  expect(opensConnections('server/api/app/app.ts')).toBe(false)
})

test('S18: the address of a workload is what the engine says, whatever a tenant says', () => {
  const writers = sources.filter((path) => /^server\/(runtime\/workloads|apps\/(instances|workloads|jobs))\//.test(path))
  const written = writers.flatMap((path) =>
    [...codeOf(path).matchAll(/\b(?:address|endpoint): ((?:[a-z]\w*\.)+(?:address|host|endpoint)|null)\b/g)].map(
      ([, value]) => `${path} ${value}`,
    ),
  )
  // `seen` is the engine's state of the workload, and `step` carries it on.
  expect([...new Set(written.filter((one) => !one.endsWith(' null')))].sort()).toEqual([
    'server/runtime/workloads/plan.ts seen.endpoint',
    'server/runtime/workloads/run.ts step.endpoint',
    'server/runtime/workloads/start.ts endpoint.host',
  ])
  expect(sources.filter((path) => /\bnoteEndpoint\(/.test(codeOf(path)))).toEqual(['server/runtime/workloads/start.ts'])
})

describe('S18: addresses in the fields of the API', () => {
  let platform: Platform
  let sourceHosts: SourceHosts
  let serviceId: string
  let visits = 0
  let canary: Bun.TCPSocketListener

  beforeAll(async () => {
    canary = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        open(socket) {
          visits++
          socket.end()
        },
        data() {},
      },
    })
    sourceHosts = startSourceHosts()
    platform = await startPlatform({ CP_LOGIN_LIMIT: '1000000', ...sourceHosts.env })
    serviceId = await createService(platform, { name: 'steady' })
  })

  afterAll(async () => {
    canary.stop(true)
    await platform.close()
    await sourceHosts.close()
  })

  const addresses = () => [
    `http://127.0.0.1:${canary.port}/`,
    `http://localhost:${canary.port}/latest/meta-data`,
    `http://[::ffff:127.0.0.1]:${canary.port}/`,
    `http://2130706433:${canary.port}/`,
    `http://127.1:${canary.port}/`,
    `//127.0.0.1:${canary.port}/`,
    `git://127.0.0.1:${canary.port}/x.git`,
    `ssh://git@127.0.0.1:${canary.port}/x.git`,
    `127.0.0.1:${canary.port}`,
  ]

  test('are never connected to', async () => {
    for (const id of operationIds) {
      const operation = operationOf(id)
      const { path, options } = requestOf(id, {})
      const bodies = addresses().flatMap((address) => (operation.body === undefined ? [] : bodiesWith(operation.body, address)))
      const url = platform.url + path.replace('srv-00000000000000000000', serviceId)
      const replies = await Promise.all(bodies.map((json) => call(url, { token: platform.adminToken, ...options, json })))
      expect(replies.filter(({ status }) => status >= 500).map(({ body }) => body)).toEqual([])
    }
    // Whoever had kept an address for later has had the time to use it.
    await Bun.sleep(500)
    expect(visits).toBe(0)
  })

  test('would be seen if they were', async () => {
    await fetch(addresses()[0] ?? '').catch(() => undefined)
    expect(visits).toBe(1)
  })
})
