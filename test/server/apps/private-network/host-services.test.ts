import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createService, deployApp } from '../../../support/apps.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { probe, proberApp } from '../../../support/prober.ts'
import { until } from '../../../support/until.ts'

const isRoot = process.getuid?.() === 0
const ports: number[] = []
const servers: Server[] = []

/** Says whom it hears from. */
const listening = async (): Promise<number> => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', () => socket.end(`heard ${socket.remoteAddress}`))
  })
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

beforeAll(async () => {
  for (let count = 0; count < 2; count++) ports.push(await listening())
})
afterAll(() => {
  for (const server of servers) server.close()
})

describe.each([...(isRoot ? [['of their own', {}] as const] : []), ['of the machine', { CP_INSTANCE_SUBNET: 'off' }] as const])(
  'services with networks %s',
  (kind, settings) => {
    let platform: Platform
    beforeAll(async () => {
      platform = await startPlatform({ ...settings, CP_HOST_SERVICES: `db=127.0.0.1:${ports[0]}` })
    }, 120_000)
    afterAll(() => platform.close(), 120_000)

    test('reach the port of the machine that the operator has named, and no other', { timeout: 120_000 }, async () => {
      const [open, closed] = ports
      await deployApp(platform, await createService(platform, { name: 'asks' }), await proberApp())
      const places = [`db.host.internal:${open}`, `db.host.internal:${closed}`, `127.0.0.1:${open}`]
      const ask = () => probe(platform, 'asks.localhost', places)
      await until('the port is reached', async () => (await ask())[`db.host.internal:${open}`] === 'connected heard 127.0.0.1')
      if (kind === 'of their own') {
        const answers = await ask()
        expect(answers[`db.host.internal:${closed}`]).toBe('EHOSTUNREACH')
        expect(answers[`127.0.0.1:${open}`]).toBe('ECONNREFUSED')
      }
    })
  },
)
