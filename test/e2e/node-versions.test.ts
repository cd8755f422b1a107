import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder } from '../support/compiled-steps.ts'

let cpd: Compiled
let app: AppFolder

beforeAll(async () => {
  cpd = await startCompiled()
  app = copyApp('hello-js')
  app.write(
    'server.js',
    "require('node:http').createServer((_, res) => res.end(JSON.stringify(process.versions))).listen(process.env.PORT)\n",
  )
})
afterAll(async () => {
  app.remove()
  await cpd.stop()
})

const deployAs = async (name: string, packageJson: object): Promise<string> => {
  app.write('package.json', JSON.stringify({ scripts: { start: 'node server.js' }, ...packageJson }))
  return await deployFolder(cpd, app.dir, ['--service', name])
}
const versionsOf = async (name: string) => (await (await cpd.appFetch(name)).json()) as Record<string, string>

test('apps run on the Node.js that each asks for, fetched once, and what asks for Bun on Bun', async () => {
  const first = await deployAs('asks', { engines: { node: '22.11.0' } })
  expect(first).toContain('Fetching Node.js 22.11.0 from ')
  expect(first).toMatch(/Runtime: Node\.js 22\.11\.0 \(.*\/toolchains\/node-22\.11\.0\/bin\)\./)
  expect(await versionsOf('asks')).toMatchObject({ node: '22.11.0' })
  expect(await deployAs('asks', { engines: { node: '22.11.0' }, version: '2.0.0' })).not.toContain('Fetching')
  expect(await deployAs('asks-too', { volta: { node: '22.11.0' } })).not.toContain('Fetching')
  expect(await versionsOf('asks-too')).toMatchObject({ node: '22.11.0' })
  await deployAs('bun-app', { packageManager: 'bun@1.4.5', scripts: { start: 'bun server.js' } })
  expect(await versionsOf('bun-app')).toHaveProperty('bun')
  await deployAs('plain', {})
  expect(await versionsOf('plain')).not.toHaveProperty('bun')
  expect(readdirSync(cpd.paths.toolchains).filter((name) => name.startsWith('incoming-'))).toEqual([])
}, 180_000)

test('what an app asks for and nobody has is refused with a reason', async () => {
  app.write('package.json', JSON.stringify({ scripts: { start: 'node server.js' }, engines: { node: '>=22.11.0 <22.11.0' } }))
  const { exitCode, stdout, stderr } = await cpd.cpctl(['deploy', app.dir, '--service', 'impossible'])
  expect(exitCode).not.toBe(0)
  expect(`${stdout}${stderr}`).toContain('there is none; the nearest is')
})

test('no service can write to what was fetched', async () => {
  const printed = await cpctl(
    cpd,
    'run',
    'asks',
    '--',
    'sh',
    '-c',
    `touch ${cpd.paths.toolchains}/node-22.11.0/bin/node 2>&1 || echo refused`,
  )
  expect(printed).toContain('refused')
}, 60_000)
