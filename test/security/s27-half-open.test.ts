import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, test } from 'vitest'
import { call } from '../support/client.ts'
import { startControlPlane } from '../support/control-plane.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

const clients = new Set<Socket>()
const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const client of clients) client.destroy()
  clients.clear()
  for (const close of closers.splice(0)) await close()
})

/** Connections that begin a request and never finish it; the kernel shows them to the server from their first byte on. */
async function openHalf(url: string, count: number): Promise<void> {
  const { hostname, port } = new URL(url)
  const opened = Array.from({ length: count }, async () => {
    const client = connect({ host: hostname, port: Number(port) })
    clients.add(client)
    for (const event of ['close', 'error']) client.on(event, () => clients.delete(client))
    await Promise.race([once(client, 'connect'), once(client, 'close')])
    client.write('GET /v1/services HTTP/1.1\r\nHost: x\r\n')
    client.resume()
  })
  await Promise.allSettled(opened)
}

const answers = async ({ url, adminToken: token }: Pick<Platform, 'url' | 'adminToken'>): Promise<boolean> =>
  (await call(`${url}/v1/services`, { token }).catch(() => undefined))?.status === 200

test('S27: connections to the API beyond what an address may have end, and those that stay half open as well', async () => {
  const platform = await startPlatform({}, { connectionLimits: { trusted: 40, halfOpenMs: 3000 } })
  closers.push(platform.close)
  await openHalf(platform.url, 200)
  await until('all but the first are ended', () => clients.size <= 40)
  await until('they are ended too', () => clients.size === 0)
  await until('the API answers', () => answers(platform))
})

const DESCRIPTORS = 400

test('S27, S34: more half-open connections than there are descriptors leave the control plane running and answering', async () => {
  const plane = await startControlPlane({}, { descriptors: DESCRIPTORS })
  closers.push(plane.close)
  await openHalf(plane.url, 2 * DESCRIPTORS)
  await until('the API answers', () => answers(plane))
  await until('the newest are ended', () => clients.size < DESCRIPTORS / 2)
  for (const client of clients) client.destroy()
  await until('the API answers', () => answers(plane))
})
