import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Preview } from '../../shared/preview.ts'
import type { Service } from '../../shared/service.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl } from '../support/compiled-steps.ts'
import { freePorts } from '../support/free-ports.ts'
import { type Gitea, type GiteaUser, startGitea } from '../support/gitea.ts'
import { until } from '../support/until.ts'

let gitea: Gitea
let cpd: Compiled
let ada: GiteaUser
let eve: GiteaUser

/** Tells whoever asks what it was given, which files it has, and whether it reaches its parent in the private network. */
const app = {
  'package.json': '{"name":"shop","scripts":{"start":"node server.js"}}',
  'server.js': `const { readdirSync, existsSync } = require('node:fs')
const parent = () => fetch('http://shop:10000/up', { signal: AbortSignal.timeout(3000) }).then((one) => one.text(), () => 'out of reach')
require('node:http')
  .createServer(async ({ url }, answer) => {
    if (url === '/up') return answer.end('up')
    const secrets = existsSync(process.env.CPD_SECRETS_DIR) ? readdirSync(process.env.CPD_SECRETS_DIR) : []
    answer.end(JSON.stringify({ env: process.env, files: readdirSync('.'), secrets, parent: await parent() }))
  })
  .listen(process.env.PORT)`,
}

interface Told {
  env: Record<string, string>
  files: string[]
  secrets: string[]
  parent: string
}

const repository = '/repos/ada/shop'

beforeAll(async () => {
  gitea = await startGitea()
  const [apiPort = 0] = freePorts(1)
  const env = { CP_PUBLIC_URL: `http://127.0.0.1:${apiPort}`, CP_GITEA_URL: gitea.url, CP_GITEA_CA_FILE: gitea.caFile }
  cpd = await startCompiled({ apiPort, env })
  ada = await gitea.addUser('ada')
  eve = await gitea.addUser('eve')
  await gitea.addRepository(ada, 'shop')
  await gitea.ask(ada, 'PATCH', repository, { private: false })
  for (const [file, text] of Object.entries(app)) {
    const json = { content: btoa(text), message: `Add ${file}`, branch: 'main' }
    await gitea.ask(ada, 'POST', `${repository}/contents/${file}`, json)
  }
  await cpd.api('/gitea/installations', { json: { token: ada.token } })
  const json = {
    ...{ type: 'web_service', name: 'shop', repo: `${gitea.url}/ada/shop`, branch: 'main' },
    envVars: [{ key: 'STRIPE_KEY', value: 'live-key' }],
    secretFiles: [{ name: 'key.pem', content: 'secret' }],
    serviceDetails: { runtime: 'node', cutoverGuard: { enabled: false }, previews: { generation: 'automatic' } },
  }
  expect((await cpd.api('/services', { json })).status).toBe(201)
  await cpctl(cpd, 'previews', 'set', 'MODE=preview', '--service', 'shop')
  await until('its webhook is made', async () => (await gitea.ask<unknown[]>(ada, 'GET', `${repository}/hooks`)).length === 1)
  await until('the parent is live', async () => (await cpd.appFetch('shop', '/up')).status === 200, 120_000)
}, 240_000)
afterAll(async () => {
  await cpd?.stop()
  await gitea?.close()
}, 120_000)

async function listed(): Promise<Preview[]> {
  const page: { preview: Preview }[] = JSON.parse(await cpctl(cpd, 'previews', 'list', 'shop', '--json'))
  return page.map(({ preview }) => preview)
}
const reaches = (number: number, status: Preview['status'], commitId: string): Promise<Preview> =>
  until(
    `request ${number} is ${status}`,
    async () => (await listed()).find((one) => one.number === number && one.status === status && one.commitId === commitId),
    120_000,
  )

async function open(user: GiteaUser, branch: string): Promise<{ number: number; commit: string }> {
  await gitea.ask(user, 'POST', `/repos/${user.name}/shop/branches`, { new_branch_name: branch })
  const commit = await gitea.commit(user, 'shop', `${branch}.txt`, branch)
  const head = user === ada ? branch : `${user.name}:${branch}`
  const { number } = await gitea.ask<{ number: number }>(user, 'POST', `${repository}/pulls`, {
    head,
    base: 'main',
    title: `Add ${branch}`,
  })
  return { number, commit }
}

const close = (number: number) => gitea.ask(ada, 'PATCH', `${repository}/pulls/${number}`, { state: 'closed' })
const told = async (number: number): Promise<Told> => (await (await cpd.appFetch(`shop-pr-${number}`)).json()) as Told
const services = async () => (await cpd.api<{ service: Service }[]>('/services')).body.map(({ service }) => service.name)
const isGone = (number: number) =>
  until(`nothing shows request ${number}`, async () => {
    const { status } = await cpd.appFetch(`shop-pr-${number}`)
    return status === 404 && !(await services()).includes(`shop-pr-${number}`)
  })

test('a request from a branch is served, told of, deployed anew by a push past a kill, and gone after its close', async () => {
  const { number, commit } = await open(ada, 'hats')
  const { service } = await reaches(number, 'live', commit)
  const first = await told(number)
  expect(first).toMatchObject({ env: { STRIPE_KEY: 'live-key', MODE: 'preview' }, secrets: ['key.pem'], parent: 'up' })
  expect(first.files).toContain('hats.txt')

  // What is pushed while nobody listens is found when there is somebody again.
  await cpd.kill9()
  const next = await gitea.commit(ada, 'shop', 'more.txt', 'hats')
  await cpd.start()
  await reaches(number, 'live', next)
  expect((await told(number)).files).toContain('more.txt')
  const comments = await until('the comment says so', async () => {
    const found = await gitea.ask<{ body: string }[]>(ada, 'GET', `${repository}/issues/${number}/comments`)
    return found[0]?.body.includes(next.slice(0, 8)) && found
  })
  expect(comments).toHaveLength(1)
  expect(comments[0]?.body).toContain(service?.url)

  await close(number)
  await isGone(number)
}, 300_000)

test('a request from a fork is not built before its commit is approved, is given no secrets, and is gone after its close', async () => {
  await gitea.ask(eve, 'POST', `${repository}/forks`, {})
  const { number, commit } = await open(eve, 'capes')
  await reaches(number, 'awaiting_approval', commit)
  expect(await services()).toEqual(['shop'])
  const approved = await cpctl(cpd, 'previews', 'approve', String(number), '--commit', commit, '--service', 'shop')
  expect(approved).toContain(`shop-pr-${number} is live`)
  const { env, files, secrets, parent } = await told(number)
  expect(env).not.toHaveProperty('STRIPE_KEY')
  expect({ mode: env.MODE, secrets, parent }).toEqual({ mode: 'preview', secrets: [], parent: 'out of reach' })
  expect(files).toContain('capes.txt')

  const later = await gitea.commit(eve, 'shop', 'later.txt', 'capes')
  await reaches(number, 'awaiting_approval', later)
  expect((await told(number)).files).not.toContain('later.txt')
  await close(number)
  await isGone(number)
}, 300_000)
