import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Job } from '../../../../shared/job.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'
import { defaultWorkspaceId } from '../../../support/members.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { openShell, pidsWith, shellUrl } from '../../../support/shell.ts'
import { upgradeHeaders } from '../../../support/socket.ts'
import { until } from '../../../support/until.ts'

let platform: Platform
let service: TestService
beforeAll(async () => {
  platform = await startPlatform()
  service = await makeService(platform, { name: 'web', envVars: [{ key: 'COLOUR', value: 'green' }] })
  await service.goLive('hello-js')
})
afterAll(() => platform.close())

const open = (startCommand: string) => openShell(platform, service.id, { path: 'interactive-jobs', query: { startCommand } })
const newest = async (): Promise<Job | undefined> => (await service.ask<{ job: Job }[]>('/jobs?limit=1')).body[0]?.job
const whenOver = () =>
  until('the job is over', async () => {
    const job = await newest()
    return job?.finishedAt !== undefined && job
  })

describe('a job on a terminal', () => {
  test('asks and is answered, and is told among the jobs with its end', async () => {
    const job = await open('printf "Name for $COLOUR: "; read name; test -t 0 && echo "<$name at a terminal>"; exit 3')
    await job.prints('Name for green: ')
    expect(await newest()).toMatchObject({ status: 'running', startCommand: expect.stringContaining('read name') })
    job.type('Ada\r')
    await job.prints('<Ada at a terminal>')
    expect((await job.closed).code).toBe(1000)
    expect(job.notices.find(({ type }) => type === 'exit')).toMatchObject({ exitCode: 3 })
    expect(await whenOver()).toMatchObject({ status: 'failed', exitCode: 3, reason: 'It exited with code 3.' })
  })

  test('is canceled when its client goes, with everything it has started', async () => {
    const job = await open('sleep 7654331 & sleep 7654331')
    await until('it runs', () => pidsWith('sleep 7654331').length > 0)
    job.socket.close()
    expect(await whenOver()).toMatchObject({ status: 'canceled', reason: 'The client went away.' })
    await until('nothing of it is left', () => pidsWith('sleep 7654331').length === 0)
  })

  test('is canceled like any other job', async () => {
    const job = await open('echo ready; exec sleep 7654332')
    await job.prints('ready')
    const { id } = (await newest()) ?? { id: '' }
    expect((await service.ask(`/jobs/${id}/cancel`, { method: 'POST' })).status).toBe(200)
    await job.closed
    expect(await whenOver()).toMatchObject({ id, status: 'canceled', reason: 'Canceled on request.' })
  })

  test('takes one of the places that its workspace has for shells', async () => {
    const workspaceId = await defaultWorkspaceId(platform)
    const setShells = (shells: number | null) =>
      call(`${platform.url}/v1/quotas/${workspaceId}`, { method: 'PATCH', json: { shells }, token: platform.adminToken })
    await setShells(1)
    const job = await open('echo ready; exec sleep 7654333')
    await job.prints('ready')
    const url = shellUrl(platform, service.id, { startCommand: 'true' }, 'interactive-jobs')
    const reply = await call(url, { headers: { ...upgradeHeaders, authorization: `Bearer ${platform.adminToken}` } })
    expect(expectError(reply, 'conflict').message).toContain('"shells"')
    job.socket.close()
    await whenOver()
    await setShells(null)
  })

  test('is refused where no job could run', async () => {
    const site = await makeService(platform, { name: 'site', type: 'static_site' })
    const url = shellUrl(platform, site.id, { startCommand: 'true' }, 'interactive-jobs')
    const reply = await call(url, { headers: { ...upgradeHeaders, authorization: `Bearer ${platform.adminToken}` } })
    expect(reply.status).toBe(409)
  })
})
