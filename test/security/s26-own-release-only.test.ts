import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { servicePathsOf } from '../../server/platform/paths.ts'
import { createService, deployApp, deployEnd, packApp, upload } from '../support/apps.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'
import { buildLogOf, HOSTILE_APP } from './hostile-tenant.ts'

const isRoot = process.getuid?.() === 0

let platform: Platform
beforeAll(async () => {
  // Below /var/lib permissions alone stand between a service and the folders of its own that it is not shown.
  platform = await startPlatform({}, isRoot ? { parent: '/var/lib' } : {})
})
afterAll(() => platform.close())

/** Prints the paths in which there is something to be seen, and then that it is done. An empty folder may stand where another release was. */
const jobThatLooks = (paths: readonly string[]): string => {
  const words = paths.map((path) => `'${path}'`).join(' ')
  return `for path in ${words}; do [ -z "$(ls -A "$path" 2>/dev/null)" ] || echo "reached $path"; done; echo looked`
}

test('S26: an instance and a job reach nothing of builds, uploads and other releases, and cannot change their own', async () => {
  const id = await createService(platform, {
    name: 'looks',
    secretFiles: [{ name: 'a.txt', content: 'secret' }],
    serviceDetails: { envSpecificDetails: { buildCommand: 'ls "$PWD/../.."; until [ -e "$HOME/go" ]; do sleep 0.1; done' } },
  })
  const own = servicePathsOf(platform.context.paths, id)
  mkdirSync(own.home, { recursive: true })
  writeFileSync(join(own.home, 'go'), '')
  await deployApp(platform, id, await packApp('hello-js', { 'server.js': HOSTILE_APP }))
  const [first = ''] = readdirSync(own.releases)
  await deployApp(platform, id, await packApp('hello-js', { 'server.js': `${HOSTILE_APP}// two` }))
  const second = readdirSync(own.releases).find((name) => name !== first) ?? ''
  rmSync(join(own.home, 'go'))
  const { body: building } = await upload(platform, id, await packApp('hello-js'))
  await until('the third build runs', async () => readdirSync(own.builds).includes(building.deployId))
  const { body: waiting } = await upload(platform, id, await packApp('hello-js'))
  const strange = [
    join(own.builds, building.deployId, 'source'),
    join(own.builds, building.deployId),
    join(own.builds, waiting.source.id),
    join(own.releases, first),
    join(own.sources, `${waiting.source.id}.tar.gz`),
    own.sources,
    own.output,
    platform.context.paths.uploads,
  ]
  const seen = await ask<string[]>('/look', [...strange, join(own.releases, second, 'server.js')])
  expect(seen.slice(0, -1).map((answer) => answer.replace(/^(ENOENT|EACCES|saw )$/, 'nothing'))).toEqual(strange.map(() => 'nothing'))
  expect(seen.at(-1)).toMatch(/^read \d+ bytes$/)
  const code = join(own.releases, second, 'server.js')
  const before = readFileSync(code, 'utf8')
  const [changed] = await ask<string[]>('/change', [code])
  // Where it has a layer of its own over the release, it has changed a copy.
  expect(changed).toMatch(/^(EROFS|EACCES|changed)$/)
  expect(readFileSync(code, 'utf8')).toBe(before)
  expect(await jobOutput(id, jobThatLooks(strange))).toEqual(['looked'])
  writeFileSync(join(own.home, 'go'), '')
  await deployEnd(platform, id, building.deployId)
  await deployEnd(platform, id, waiting.deployId)
  const names = (await buildLogOf(platform, id)).split('\n').filter((line) => /^(dep|src)-/.test(line))
  expect(names.length).toBeGreaterThan(0)
  expect(names.filter((name) => name.startsWith('src-'))).toEqual([])
})

async function ask<T>(pathname: string, paths: readonly string[]): Promise<T> {
  const query = new URLSearchParams(paths.map((path): [string, string] => ['path', path]))
  const { status, text } = await platform.ingress.visit('looks.localhost', `${pathname}?${query}`)
  expect(status).toBe(200)
  return JSON.parse(text) as T
}

async function jobOutput(serviceId: string, startCommand: string): Promise<string[]> {
  const token = platform.adminToken
  const { status, body: job } = await call<{ id: string }>(`${platform.url}/v1/services/${serviceId}/jobs`, {
    json: { startCommand },
    token,
  })
  expect(status).toBe(201)
  return await until('the job has said that it looked', async () => {
    const path = `${platform.url}/v1/logs?resource=${serviceId}&instance=${job.id}&limit=100&direction=forward`
    const { body } = await call<{ logs: { message: string }[] }>(path, { token })
    const lines = body.logs.map(({ message }) => message)
    return lines.includes('looked') && lines
  })
}
