import { afterEach, describe, expect, test } from 'vitest'
import type { Preview } from '../../shared/preview.ts'
import { deployId, exampleDeploy, exampleService, pageOf, serviceId } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl } from './terminal.ts'

let server: FakeServer
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
})

const commit = 'a'.repeat(40)
const previewId = 'srv-1b1c2d3e4f5g6h7i8j9k'

const examplePreview = (fields: Partial<Preview> = {}): Preview => ({
  number: 12,
  parentId: serviceId,
  status: 'live',
  title: 'Sell hats',
  requestUrl: 'https://git.example.com/ada/shop/pulls/12',
  branch: 'hats',
  commitId: commit,
  repository: 'ada/shop',
  fork: false,
  deployedCommitId: commit,
  service: { id: previewId, name: 'web-pr-12', url: 'http://web-pr-12.localhost:8080' },
  createdAt: '2026-02-01T11:00:00.000Z',
  updatedAt: '2026-02-01T11:00:00.000Z',
  ...fields,
})

const ofFork = (): Preview => {
  const { service: _, deployedCommitId: __, ...waiting } = examplePreview({ number: 13, status: 'awaiting_approval', fork: true })
  return { ...waiting, repository: 'eve/shop' }
}

function expired(): Preview {
  const { service: _, ...gone } = examplePreview({ number: 14, status: 'expired' })
  return gone
}

const asked: Record<number, Preview> = { 13: ofFork(), 14: { ...expired(), status: 'waiting' } }

const answers: Answers = {
  listServices: () => pageOf('service', [exampleService()]),
  getService: () => exampleService({ id: previewId, name: 'web-pr-12' }),
  listPreviews: () => pageOf('preview', [expired(), ofFork(), examplePreview()]),
  createPreview: ({ body }) => asked[(body as { number: number }).number] ?? examplePreview(),
  approvePreview: () => examplePreview(),
  deletePreview: () => undefined,
  listDeploys: () => pageOf('deploy', [exampleDeploy()]),
  getDeploy: () => exampleDeploy(),
  listPreviewValues: () => pageOf('previewValue', [{ key: 'STRIPE_KEY', value: 'sandbox' }]),
  setPreviewValue: () => ({ key: 'STRIPE_KEY', value: 'sandbox' }),
  deletePreviewValue: () => undefined,
}

function run(...argv: string[]) {
  server = startFakeServer(answers)
  return cpctl(['previews', ...argv], { env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' }, columns: 200 })
}

const sent = (id: string) => server.received.find((one) => one.id === id)

describe('a list of requests', () => {
  test('shows of a fork whose it is, and the whole commit that is to be approved', async () => {
    const { stdout } = await run('list', 'web')
    expect(stdout).toContain(`awaiting_approval`)
    expect(stdout).toContain('eve/shop:hats')
    expect(stdout).toContain(commit)
    expect(stdout).toContain('http://web-pr-12.localhost:8080')
  })

  test('with --json is as the API tells it', async () => {
    expect(JSON.parse((await run('list', 'web', '--json')).stdout)).toEqual(pageOf('preview', [expired(), ofFork(), examplePreview()]))
  })
})

describe('a preview that is asked for', () => {
  test('is followed until it is live', async () => {
    const { exitCode, stdout } = await run('create', '12', '--service', 'web')
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('web-pr-12 is live') })
    expect(sent('createPreview')?.body).toEqual({ number: 12 })
    expect(sent('getDeploy')?.params).toMatchObject({ serviceId: previewId, deployId })
  })

  test('of a fork is not begun, and the command that approves its commit is shown', async () => {
    const { exitCode, stdout } = await run('create', '13', '--service', 'web')
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`cpctl previews approve 13 --commit ${commit}`)
  })
})

test('a preview that is asked for is waited for no longer than the request stays as it was', async () => {
  const { exitCode, stderr } = await run('create', '14', '--service', 'web')
  expect(exitCode).not.toBe(0)
  expect(stderr).toContain('Request 14 is expired by now')
})

describe('an approval', () => {
  test('is of one whole commit', async () => {
    expect((await run('approve', '13', '--commit', commit, '--service', 'web', '--detach')).exitCode).toBe(0)
    expect(sent('approvePreview')).toMatchObject({ params: { request: '13' }, body: { commitId: commit } })
  })

  test('of part of a commit is not sent', async () => {
    const { exitCode, stderr } = await run('approve', '13', '--commit', commit.slice(0, 8), '--service', 'web')
    expect(exitCode).not.toBe(0)
    expect(stderr).toContain('Give the whole id')
    expect(server.received).toEqual([])
  })
})

test('a preview is deleted after a yes', async () => {
  expect((await run('delete', '12', '--service', 'web', '--yes')).exitCode).toBe(0)
  expect(sent('deletePreview')?.params).toMatchObject({ serviceId, request: '12' })
})

test('values in previews are set, taken back, and hidden unless they are asked for', async () => {
  expect((await run('set', 'STRIPE_KEY=sandbox', '--service', 'web')).exitCode).toBe(0)
  expect(sent('setPreviewValue')).toMatchObject({ params: { key: 'STRIPE_KEY' }, body: { value: 'sandbox' } })
  await server.stop()
  expect((await run('unset', 'STRIPE_KEY', '--service', 'web')).exitCode).toBe(0)
  await server.stop()
  expect((await run('values', '--service', 'web')).stdout).not.toContain('sandbox')
  await server.stop()
  expect((await run('values', '--service', 'web', '--show')).stdout).toContain('sandbox')
})
