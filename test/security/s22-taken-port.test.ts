import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createService, deployApp } from '../support/apps.ts'
import { tarGz } from '../support/archives.ts'
import { type Platform, startPlatform } from '../support/platform.ts'

/** Answers, and ends for good when it is told to. */
const MORTAL = `
const { existsSync, writeFileSync } = require('node:fs')
if (existsSync('/tmp/dead')) process.exit(1)
require('node:http').createServer((request, response) => {
  if (request.url !== '/die') return response.end('mine')
  writeFileSync('/tmp/dead', '')
  process.exit(1)
}).listen(Number(process.env.PORT), '127.0.0.1')
`
/** Listens wherever it is told to, as somebody else. */
const TAKER = `
const { createServer } = require('node:http')
const taken = (request, response) => response.end('taken over')
createServer((request, response) => {
  const port = Number(new URL(request.url, 'http://x').searchParams.get('port'))
  if (!port) return response.end('ready')
  const server = createServer(taken)
  server.once('error', (error) => response.end(error.code))
  server.listen(port, '127.0.0.1', () => response.end('listening'))
}).listen(Number(process.env.PORT), '127.0.0.1')
`

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform({ CP_HEALTH_TIMEOUT_SECONDS: '4', CP_INSTANCE_SUBNET: 'off' })
})
afterAll(() => platform.close())

const archive = async (code: string) =>
  new Uint8Array(
    await tarGz([
      { name: 'server.js', content: code },
      { name: 'package.json', content: '{}' },
    ]),
  )

const portOf = (serviceId: string): number =>
  platform.db.query<{ port: number }, [string]>('SELECT port FROM instances WHERE service_id = ?').get(serviceId)?.port ?? 0

test("S22: a hostile app that listens at a dead neighbour's port is given none of its requests", async () => {
  const victim = await createService(platform, { name: 'mortal' })
  await deployApp(platform, victim, await archive(MORTAL))
  const taker = await createService(platform, { name: 'taker' })
  await deployApp(platform, taker, await archive(TAKER))
  const port = portOf(victim)
  expect((await platform.ingress.visit('taker.localhost', `/?port=${port}`)).text).toBe('EADDRINUSE')
  expect((await platform.ingress.visit('mortal.localhost')).text).toBe('mine')

  await platform.ingress.visit('mortal.localhost', '/die')
  await expect.poll(async () => (await platform.ingress.visit('mortal.localhost')).status).toBe(502)
  // The routes follow the death by a moment, which there is not where each instance has a network of its own.
  await expect.poll(() => readFileSync(platform.context.paths.routesFile, 'utf8').includes(`"port":${port}`)).toBe(false)
  await expect.poll(async () => (await platform.ingress.visit('taker.localhost', `/?port=${port}`)).text).toMatch(/listening|EADDRINUSE/)
  for (let count = 0; count < 40; count++) {
    const { status, text } = await platform.ingress.visit('mortal.localhost')
    expect({ status, isTaken: text.includes('taken over') }).toEqual({ status: 502, isTaken: false })
    expect(text).toContain('mortal')
    await Bun.sleep(50)
  }
})

test('S22: a new release is not healthy because somebody else listens at its port', async () => {
  const taker = await createService(platform, { name: 'early-taker' })
  await deployApp(platform, taker, await archive(TAKER))
  const silent = await createService(platform, { name: 'silent' })
  const code = `require('node:http').get('http://127.0.0.1:${portOf(taker)}/?port=' + process.env.PORT); setInterval(() => {}, 1000)`
  await expect(deployApp(platform, silent, await archive(code))).rejects.toThrow(/still|Not live/)
  expect((await platform.ingress.visit('silent.localhost')).text).not.toContain('taken over')
}, 90_000)
