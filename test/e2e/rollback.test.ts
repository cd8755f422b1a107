import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder, deploysOf, newestDeploy, serviceNamed } from '../support/compiled-steps.ts'

/** Shows what a release is made of: code, a variable and a secret file. */
const SERVER = `
const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const file = join(process.env.CPD_SECRETS_DIR, 'motto.txt')
const code = readFileSync(join(__dirname, 'VERSION'), 'utf8').trim()
require('node:http').createServer((request, response) => {
  response.end(JSON.stringify({ code, mood: process.env.MOOD ?? null, motto: existsSync(file) ? readFileSync(file, 'utf8') : null }))
}).listen(Number(process.env.PORT), '127.0.0.1')
`

const first = { code: '1', mood: 'calm', motto: 'first things first' }
const second = { code: '2', mood: 'bold', motto: 'second to none' }

let cpd: Compiled
let app: AppFolder
let serviceId: string

beforeAll(async () => {
  cpd = await startCompiled()
  app = copyApp('hello-js')
  app.write('server.js', SERVER)
  await cpctl(cpd, 'services', 'create', 'web')
  serviceId = (await serviceNamed(cpd, 'web')).id
  await deployRelease(first, ['--env', 'MOOD=calm'])
  await deployRelease(second, ['--env', 'MOOD=bold', '--env', 'EXTRA=1', '--plan', 'standard'])
})

afterAll(async () => {
  app.remove()
  await cpd.stop()
})

async function deployRelease({ code, motto }: typeof first, args: string[]): Promise<void> {
  app.setVersion(code)
  const files = [{ name: 'motto.txt', content: motto }]
  await cpd.api(`/services/${serviceId}/secret-files`, { method: 'PUT', json: files })
  await deployFolder(cpd, app.dir, ['--service', 'web', ...args])
}

const shown = async (): Promise<unknown> => await (await cpd.appFetch('web')).json()

test('--dry-run shows what a rollback would change, by names and never by values, and changes nothing', async () => {
  const [now, before] = await deploysOf(cpd, serviceId)
  const plan = await cpctl(cpd, 'rollback', '--service', 'web', '--dry-run')
  expect(plan).toContain(`Rolling back from ${now?.id} to ${before?.id} would change:`)
  for (const line of [/code: \w+ -> \w+/, /- variable EXTRA/, /~ variable MOOD/, /~ secret file motto\.txt/, /plan: standard -> starter/]) {
    expect(plan).toMatch(line)
  }
  expect(plan).not.toMatch(/bold|calm|second to none|first things/)
  expect(await shown()).toEqual(second)
  expect(await deploysOf(cpd, serviceId)).toEqual([now, before])
})

test('a rollback brings code, variables, secret files and limits back, without a build', async () => {
  const begun = performance.now()
  await cpctl(cpd, 'rollback', '--service', 'web')
  const tookMs = performance.now() - begun
  expect(await shown()).toEqual(first)
  const deploy = await newestDeploy(cpd, serviceId)
  expect(deploy).toMatchObject({ status: 'live', trigger: 'rollback' })
  const liveMs = Date.parse(deploy.finishedAt ?? '') - Date.parse(deploy.createdAt)
  console.info(`rollback: ${liveMs} ms from request to live, ${Math.round(tookMs)} ms for the whole cpctl command`)
  expect(await cpctl(cpd, 'env', 'export', '--service', 'web')).toBe('MOOD=calm\n')
  expect((await serviceNamed(cpd, 'web')).serviceDetails.plan).toBe('starter')
})

test('the next deploy after a rollback keeps what the rollback restored', async () => {
  app.setVersion('3')
  await deployFolder(cpd, app.dir, ['--service', 'web'])
  expect(await shown()).toEqual({ ...first, code: '3' })
})

test('a rollback goes to any deploy that was live, and to none that was not', async () => {
  const [third, , secondDeploy] = await deploysOf(cpd, serviceId)
  await cpctl(cpd, 'rollback', secondDeploy?.id ?? '', '--service', 'web')
  expect(await shown()).toEqual(second)
  app.write('package.json', '{ "scripts": { "build": "exit 3" } }')
  expect((await cpd.cpctl(['deploy', app.dir, '--service', 'web'])).exitCode).toBe(1)
  const failed = await newestDeploy(cpd, serviceId)
  const refused = await cpd.cpctl(['rollback', failed.id, '--service', 'web'])
  expect(refused).toMatchObject({ exitCode: 1 })
  expect(refused.stderr).toContain('was never live')
  await cpctl(cpd, 'rollback', third?.id ?? '', '--service', 'web')
  expect(await shown()).toEqual({ ...first, code: '3' })
})
