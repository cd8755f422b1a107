import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createService } from '../../../support/apps.ts'
import { freePorts } from '../../../support/free-ports.ts'
import { type Developer, newDeveloper } from '../../../support/git.ts'
import { defaultWorkspaceId } from '../../../support/members.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { until } from '../../../support/until.ts'

const HOST = 'paas.apps.acme.com'

let platform: Platform
let developer: Developer
beforeAll(async () => {
  platform = await startPlatform({
    CP_LISTEN: `127.0.0.1:${freePorts(1)[0]}`,
    CP_PUBLIC_URL: `https://${HOST}`,
    CP_BASE_DOMAIN: 'apps.acme.com',
  })
  developer = newDeveloper()
  await until('the API is routed', async () => (await platform.ingress.visit(HOST, '/api/health')).status !== 404)
})
afterAll(async () => {
  developer.leave()
  await platform.close()
})

test('pushes and clones pass through the ingress at the host of the public URL, in pieces and without their length', async () => {
  await createService(platform, { name: 'site', type: 'static_site', serviceDetails: { publishPath: '.' } })
  const [, port = ''] = platform.ingress.address.split(':')
  const address = `http://${HOST}:${port}/git/${await defaultWorkspaceId(platform)}/site.git`
  const noise = randomBytes(3_000_000).toString('base64')
  const dir = await developer.begin('site', { 'index.html': 'first', noise })
  const run = (...args: string[]) =>
    developer.runWith(platform.adminToken, dir, '-c', `http.curloptResolve=${HOST}:${port}:127.0.0.1`, ...args)
  const pushed = await run('push', address, 'main')
  expect(pushed).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/remote: site is live: http:/) })
  expect(await run('clone', '-q', address, 'cloned')).toMatchObject({ exitCode: 0 })
  expect((await developer.run(dir, '-C', 'cloned', 'show', 'HEAD:noise')).stdout).toBe(noise)
})

/** Processes of git that work on the repository of a service. */
const workingOn = (serviceId: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(join(serviceId, 'git'))
    } catch {
      return false
    }
  })

test('S27: a fetch that nobody reads waits with its bytes in git, and ends with its client', async () => {
  const serviceId = await createService(platform, { name: 'large', type: 'static_site', serviceDetails: { publishPath: '.' } })
  const path = `/git/${await defaultWorkspaceId(platform)}/large.git`
  const dir = await developer.begin('large', { noise: randomBytes(24_000_000).toString('base64') }, 'Large [skip deploy]')
  expect(await developer.runWith(platform.adminToken, dir, 'push', platform.url + path, 'main')).toMatchObject({ exitCode: 0 })
  const head = (await developer.run(dir, 'rev-parse', 'HEAD')).stdout.trim()
  const body = `0032want ${head}\n00000009done\n`
  const { hostname, port, host } = new URL(platform.url)
  const client = connect({ host: hostname, port: Number(port) })
  const heads = [
    `POST ${path}/git-upload-pack HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${platform.adminToken}`,
    'Content-Type: application/x-git-upload-pack-request',
    `Content-Length: ${body.length}`,
  ]
  client.write(`${heads.join('\r\n')}\r\n\r\n${body}`)
  await until('git is at it', () => workingOn(serviceId).length > 0)
  // Long enough for all of it to be read, if anybody kept it in memory.
  await Bun.sleep(700)
  expect(workingOn(serviceId).length).toBeGreaterThan(0)
  client.destroy()
  await until('git has ended', () => workingOn(serviceId).length === 0)
})
