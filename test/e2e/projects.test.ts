import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, serviceNamed } from '../support/compiled-steps.ts'

let cpd: Compiled
let app: AppFolder

beforeAll(async () => {
  cpd = await startCompiled()
  app = copyApp('hello-js')
})

afterAll(async () => {
  app.remove()
  await cpd.stop()
})

const inApp = (args: string[], env: Record<string, string> = {}) => cpd.cpctl(args, { cwd: app.dir, env })

test('a folder is linked to production and deployed there, and production is copied to a staging that runs', async () => {
  await cpctl(cpd, 'projects', 'create', 'shop', '--environment', 'production')
  expect((await inApp(['link', 'shop/production'])).exitCode).toBe(0)
  const deployed = await inApp(['deploy', '--no-guard', '--env', 'TOKEN=secret'])
  expect(deployed).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('in shop/production') })

  await cpctl(cpd, 'env-groups', 'create', 'db', 'DATABASE_URL=x', '--environment', 'shop/production', '--service', 'hello-js')
  expect(await cpctl(cpd, 'projects', 'copy', 'production', 'staging', '--dry-run')).toBe(
    [
      '+ environment shop/staging, like shop/production',
      '  + env group db-staging, like db: 1 variable',
      '  + web_service hello-js-staging, like hello-js: 1 variable',
      '    + linked to db-staging',
      '',
    ].join('\n'),
  )
  const copied = await cpd.cpctl(['projects', 'copy', 'production', 'staging', '--deploy'])
  expect(copied).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('hello-js-staging lacks the values of TOKEN') })
  expect(await (await cpd.appFetch('hello-js-staging')).text()).toBe('hello-js 1\n')
  const [original, copy] = [await serviceNamed(cpd, 'hello-js'), await serviceNamed(cpd, 'hello-js-staging')]
  expect(copy.serviceDetails).toMatchObject({
    cutoverGuard: original.serviceDetails.cutoverGuard,
    envSpecificDetails: original.serviceDetails.envSpecificDetails,
  })
  expect(JSON.parse(await cpctl(cpd, 'env', 'list', 'hello-js-staging', '--show', '--json'))).toMatchObject([
    { envVar: { key: 'TOKEN', value: '' } },
  ])

  const [group] = JSON.parse(await cpctl(cpd, 'env-groups', 'list', '--environment', 'staging', '--json'))
  expect(group.envGroup).toMatchObject({ name: 'db-staging', serviceLinks: [{ name: 'hello-js-staging' }] })

  const again = await cpd.cpctl(['projects', 'copy', 'production', 'staging', '--deploy'])
  expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('= web_service hello-js-staging is there') })
  const listed = async (...args: string[]) =>
    JSON.parse(await cpctl(cpd, 'services', 'list', '--json', ...args)).map((item: { service: { name: string } }) => item.service.name)
  expect(await listed('--environment', 'staging')).toEqual(['hello-js-staging'])
  expect((await listed('--project', 'shop')).sort()).toEqual(['hello-js', 'hello-js-staging'])
}, 120_000)

test('a developer works in production while it is protected, and does not look into it', async () => {
  await cpctl(cpd, 'environments', 'protect', 'shop/production')
  const CPCTL_TOKEN = (await cpctl(cpd, 'keys', 'create', 'dev', '--role', 'developer')).trim()
  const asDeveloper = (...args: string[]) => cpd.cpctl(args, { env: { CPCTL_TOKEN } })
  expect((await asDeveloper('logs', 'hello-js')).exitCode).toBe(0)
  expect((await asDeveloper('env', 'list', 'hello-js', '--show')).stdout).toMatch(/TOKEN +\(not yours to see\)/)
  for (const args of [
    ['services', 'delete', 'hello-js', '--yes'],
    ['services', 'suspend', 'hello-js'],
    ['environments', 'move', 'hello-js', '--out'],
    ['projects', 'copy', 'production', 'open', '--with-values'],
  ])
    expect(await asDeveloper(...args)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('environments.manage_protected') })
  expect((await asDeveloper('env', 'list', 'hello-js-staging', '--show')).stdout).not.toContain('not yours')
  expect((await inApp(['deploy', '--no-guard'], { CPCTL_TOKEN })).exitCode).toBe(0)
}, 120_000)

test('a key for an environment makes services there, which it sees, and nowhere else', async () => {
  const CPCTL_TOKEN = (await cpctl(cpd, 'keys', 'create', 'previews', '--environment', 'shop/staging')).trim()
  const asKey = (...args: string[]) => cpd.cpctl(args, { env: { CPCTL_TOKEN } })
  expect(await asKey('services', 'create', 'preview-1', '--environment', 'staging')).toMatchObject({ exitCode: 0 })
  expect((await asKey('services', 'get', 'preview-1')).stdout).toMatch(/Environment: +shop\/staging/)
  expect((await asKey('services', 'create', 'preview-2', '--environment', 'shop/production')).exitCode).toBe(1)
  expect((await asKey('services', 'get', 'hello-js')).exitCode).toBe(1)
  await cpctl(cpd, 'environments', 'move', 'preview-1', '--to', 'shop/production')
  expect((await asKey('services', 'get', 'preview-1')).exitCode).toBe(1)
}, 60_000)
