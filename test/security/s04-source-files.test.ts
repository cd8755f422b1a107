import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Deploy } from '../../shared/deploy.ts'
import { createService, deployEnd, upload } from '../support/apps.ts'
import { tarGz } from '../support/archives.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { payloadsFor } from './payloads.ts'

/** No sandbox can write here, so whatever makes it ran as the control plane. */
const canary = `/var/lib/cpd-canary-source-${process.pid}`
const payloads = payloadsFor(canary)
let platform: Platform
beforeAll(async () => {
  platform = await startPlatform({ CP_BUILD_CONCURRENCY: '4', CP_HEALTH_TIMEOUT_SECONDS: '3', CP_BUILD_TIMEOUT_SECONDS: '10' })
})
afterAll(() => platform.close())

type Files = Record<string, string>
const page: Files = { 'index.html': 'page' }

async function deployFiles(serviceId: string, files: Files): Promise<Deploy | undefined> {
  const archive = await tarGz(Object.entries(files).map(([name, content]) => ({ name, content })))
  const { status, body } = await upload(platform, serviceId, new Uint8Array(archive))
  expect([201, 400]).toContain(status)
  return status === 201 ? deployEnd(platform, serviceId, body.deployId) : undefined
}

function expectUnharmed(): void {
  expect(existsSync(canary)).toBe(false)
  expect(platform.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
}

const packageJson = (payload: string, scripts: Files): string =>
  JSON.stringify({
    name: payload,
    version: payload,
    main: payload,
    module: payload,
    type: payload,
    bin: payload,
    workspaces: [payload],
    engines: { node: payload },
    scripts,
  })

test('S4: payloads in every field of a package.json run as a build of the service at most', async () => {
  const lanes = await Promise.all([0, 1, 2, 3].map((lane) => createService(platform, { name: `manifests-${lane}`, type: 'static_site' })))
  const deployAll = async (id: string, lane: number) => {
    const ends: (Deploy | undefined)[] = []
    for (const payload of payloads.filter((_, index) => index % lanes.length === lane)) {
      const scripts = { build: payload, prebuild: payload, [payload]: payload }
      ends.push(await deployFiles(id, { ...page, 'bun.lock': '{"lockfileVersion": 1}', 'package.json': packageJson(payload, scripts) }))
    }
    return ends
  }
  const ends = (await Promise.all(lanes.map(deployAll))).flat()
  expect(ends.length).toBe(payloads.length)
  for (const deploy of ends) expect(deploy?.status).toMatch(/^(live|deactivated|build_failed)$/)
  for (const deploy of ends) expect(deploy?.reason ?? '').not.toContain(platform.context.paths.data)
  expectUnharmed()
})

test('S4: a package.json that is none fails the build with a reason', async () => {
  const id = await createService(platform, { name: 'broken-manifest' })
  for (const text of [
    '',
    '[]',
    'null',
    '"text"',
    '{',
    '{"scripts": 7}',
    '{"scripts": {"start": 7}}',
    '{"main": {}}',
    '{"__proto__": {"scripts": {}}}',
    `{"a":${'['.repeat(10_000)}`,
  ]) {
    const deploy = await deployFiles(id, { 'package.json': text })
    expect(deploy?.status).toBe('build_failed')
    expect(deploy?.reason).toMatch(/\w{3}/)
  }
  expectUnharmed()
})

test('S4: payloads as names of files are kept as names', async () => {
  const id = await createService(platform, { name: 'file-names', type: 'static_site' })
  for (const payload of payloads.filter((one) => one.length < 200))
    await deployFiles(id, { ...page, [`folder/${payload}`]: 'x', [payload]: 'x' })
  expectUnharmed()
})

test('S4: payloads in a Procfile, and as the program to start, run as the service at most', async () => {
  const dangerous = payloads.filter((one) => one.includes(canary)).slice(0, 12)
  const ids = await Promise.all(
    dangerous.map((_, index) => createService(platform, { name: `procfile-${index}`, type: 'background_worker' })),
  )
  const ends = await Promise.all(
    dangerous.map((payload, index) =>
      deployFiles(ids[index] ?? '', {
        Procfile: `web: ${payload}\nworker: ${payload}\n${payload}: x\n`,
        'package.json': packageJson(payload, { start: payload }),
      }),
    ),
  )
  for (const deploy of ends) expect(deploy?.status).toMatch(/^(live|build_failed|update_failed)$/)
  expectUnharmed()
  for (const id of ids)
    expect((await call(`${platform.url}/v1/services/${id}`, { method: 'DELETE', token: platform.adminToken })).status).toBe(204)
})

test('S4: nothing in a source names a path of the machine to publish, read or run', async () => {
  const id = await createService(platform, { name: 'outside', type: 'static_site' })
  for (const publishPath of ['..', '/etc', 'a/../..', '/']) {
    const reply = await call(`${platform.url}/v1/services/${id}`, {
      method: 'PATCH',
      json: { serviceDetails: { publishPath } },
      token: platform.adminToken,
    })
    expect(reply.status).toBe(400)
  }
  const linking = await createService(platform, {
    name: 'linking',
    type: 'static_site',
    serviceDetails: {
      buildCommand: 'ln -s /etc etc; ln -s /etc/passwd passwd.txt; ln -s ../../../../../../../../etc up; cp -r /proc/1 p 2>/dev/null; true',
    },
  })
  await deployFiles(linking, page)
  for (const path of [
    '/etc/passwd',
    '/passwd.txt',
    '/up/passwd',
    '/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd',
    '/..%2f..%2f..%2f..%2fetc%2fpasswd',
    '//etc/passwd',
    '/etc/../../etc/passwd',
  ]) {
    const { text } = await platform.ingress.visit('linking.localhost', path)
    expect({ path, leaks: text.includes('root:') }).toEqual({ path, leaks: false })
  }
})
