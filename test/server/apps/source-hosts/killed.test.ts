import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Deploy } from '../../../../shared/deploy.ts'
import type { Service } from '../../../../shared/service.ts'
import { call } from '../../../support/client.ts'
import { type ControlPlane, startControlPlane } from '../../../support/control-plane.ts'
import { freePorts } from '../../../support/free-ports.ts'
import { type Gitea, type GiteaUser, startGitea } from '../../../support/gitea.ts'
import { makeService, serviceOf } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

describe('what a Gitea tells while the control plane is killed', () => {
  let gitea: Gitea
  let plane: ControlPlane
  let ada: GiteaUser
  let serviceId: string

  beforeAll(async () => {
    gitea = await startGitea()
    const [port = 0] = freePorts(1)
    const [CP_LISTEN, CP_PUBLIC_URL] = [`127.0.0.1:${port}`, `http://127.0.0.1:${port}`]
    plane = await startControlPlane({ CP_LISTEN, CP_PUBLIC_URL, CP_GITEA_URL: gitea.url, CP_GITEA_CA_FILE: gitea.caFile })
    ada = await gitea.addUser('ada')
    await gitea.addRepository(ada, 'site')
    await gitea.commit(ada, 'site', 'index.html')
    await call(`${plane.url}/v1/gitea/installations`, { json: { token: ada.token }, token: plane.adminToken })
    const repo = `${gitea.url}/ada/site`
    const body = { type: 'static_site', name: 'site', repo, branch: 'main', serviceDetails: { publishPath: '.' } }
    serviceId = (await makeService(plane, body)).id
    await until('its webhook is made', async () => (await gitea.ask<unknown[]>(ada, 'GET', '/repos/ada/site/hooks')).length === 1)
  }, 240_000)
  afterAll(async () => {
    await plane?.close()
    await gitea?.close()
  })

  const service = () => serviceOf(plane, { id: serviceId, name: 'site' })
  const deploys = async () => (await service().ask<{ deploy: Deploy }[]>('/deploys')).body.map(({ deploy }) => deploy)
  const untilLive = async (commit: string) => {
    const deploy = await until('it is deployed', async () => (await deploys()).find((one) => one.commit?.id === commit))
    expect(await service().ends(deploy.id)).toMatchObject({ status: 'live', trigger: 'new_commit' })
    const path = `/repos/ada/site/commits/${commit}/status`
    const statuses = async () => (await gitea.ask<{ statuses: { context: string; status: string }[] | null }>(ada, 'GET', path)).statuses
    const isTold = async () =>
      (await statuses())?.some(({ context, status }) => context.startsWith('cpd/site.localhost-') && status === 'success')
    await until('the host is told', isTold)
  }
  const waiting = async () => (await service().ask<Service>('')).body.repositoryState?.waiting

  test('is made up for at the next start: a push', async () => {
    await untilLive(await gitea.commit(ada, 'site', 'told.txt'))
    await plane.kill()
    const lost = await gitea.commit(ada, 'site', 'lost.txt')
    await plane.start()
    await untilLive(lost)
  })

  test('is made up for at the next start: checks that passed, for which the commit has waited since before', async () => {
    await service().ask('', { method: 'PATCH', json: { autoDeployTrigger: 'checksPass' } })
    const commit = await gitea.commit(ada, 'site', 'checked.txt')
    const say = (state: string) => gitea.ask(ada, 'POST', `/repos/ada/site/statuses/${commit}`, { state, context: 'ci/build' })
    await say('failure')
    const waits = await until('its check has failed', async () => {
      const found = await waiting()
      return found?.for.includes('run again') && found
    })
    await plane.kill()
    await say('pending')
    await plane.start()
    expect(await waiting()).toEqual(waits)
    expect(waits.commitId).toBe(commit)
    await say('success')
    await untilLive(commit)
    const told = (await service().events()).filter(({ details }) => details.commitId === commit).map(({ type }) => type)
    expect(told).toEqual(['commit_waiting', 'commit_ignored'])
    expect(await waiting()).toBeUndefined()
  })
})
