import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchCommand, launchSteps } from '../../server/engines/process/launch.ts'
import { slugify } from '../../shared/slug.ts'
import { createService, deployApp, deployEnd, packApp, upload } from '../support/apps.ts'
import { tarGz } from '../support/archives.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { payloadsFor } from './payloads.ts'

const canary = `/var/lib/cpd-canary-options-${process.pid}`
const optionNames = [
  '-rf',
  '--help',
  '--',
  '-',
  '--version',
  '--checkpoint=1',
  `--checkpoint-action=exec=touch ${canary.slice(1)}`,
  '-e',
  '--reuid=0',
]
let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

test('S3: a host name made of any text is a plain label', () => {
  for (const text of [...payloadsFor(canary), ...optionNames]) expect(slugify(text)).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/)
})

test('S3: what the launcher is given by users stands behind the end of options, or in one argument of its own', () => {
  const launch = {
    programs: { monitor: '/k', steps: '/s' },
    filter: undefined,
    hasKeyrings: false,
    recordDir: '/r',
    cgroupWrites: [],
    namespaces: 'machine' as const,
    priority: 'live' as const,
    fstabPath: '/f',
    user: { uid: 1, gid: 1 },
    cwd: '--help',
    env: { A: '--reuid=0', B: '-c id' },
    command: '--reuid=0',
  }
  const { argv } = launchCommand(launch)
  expect(argv.at(-1)).toBe('--reuid=0')
  expect(argv.slice(-4, -1)).toEqual(['/proc/self/fd/8', '/bin/sh', '-c'])
  expect(argv.filter((argument) => argument === '--reuid=0')).toHaveLength(1)
  expect(launchSteps(launch).leave.steps).toContainEqual(expect.objectContaining({ call: 'chdir', args: ['--help'] }))
  expect(argv.join(' ')).not.toContain('-c id')
})

test('S3: a source whose folders and files are named like options is deployed, served and deleted', async () => {
  const app = [
    { name: '-app/--root/package.json', content: '{"name":"--help","scripts":{"build":"node -e 0"}}' },
    { name: '-app/--root/server.js', content: "require('node:http').createServer((q, r) => r.end('options')).listen(process.env.PORT)" },
    ...optionNames.map((name) => ({ name: `-app/--root/${name}`, content: 'x' })),
  ]
  const id = await createService(platform, {
    name: '--options',
    rootDir: '-app/--root',
    secretFiles: [
      { name: '--help', content: 'x' },
      { name: '-rf', content: 'x' },
    ],
  })
  await deployApp(platform, id, new Uint8Array(await tarGz(app)))
  expect(await platform.ingress.visit('options.localhost')).toMatchObject({ status: 200, text: 'options' })
  expect((await call(`${platform.url}/v1/services/${id}`, { method: 'DELETE', token: platform.adminToken })).status).toBe(204)
  await expect.poll(() => platform.db.query('SELECT id FROM services WHERE id = ?').get(id), { timeout: 20_000 }).toBeNull()
  expect(existsSync(canary)).toBe(false)
})

test('S3: a site whose folder is named like an option is published', async () => {
  const id = await createService(platform, { name: 'site', type: 'static_site', serviceDetails: { publishPath: '--output' } })
  await deployApp(platform, id, new Uint8Array(await tarGz([{ name: '--output/index.html', content: 'published' }])))
  expect(await platform.ingress.visit('site.localhost')).toMatchObject({ status: 200, text: 'published' })
})

test('S3: the names of runtimes and of programs of a package.json are looked up, never run', async () => {
  const id = await createService(platform, { name: 'strange-manager', type: 'static_site' })
  for (const packageManager of ['--help@1.0.0', `touch@${canary}`, '-rf', `bun@1.0.0;touch ${canary}`]) {
    const manifest = JSON.stringify({ packageManager, engines: { node: packageManager, npm: packageManager } })
    const { body } = await upload(platform, id, await packApp('static-plain', { 'package.json': manifest }))
    const { status } = await deployEnd(platform, id, body.deployId)
    expect(['live', 'build_failed']).toContain(status)
  }
  expect(existsSync(canary)).toBe(false)
})
