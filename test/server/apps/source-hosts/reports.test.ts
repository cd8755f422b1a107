import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertDeploy, updateDeploy } from '../../../../server/apps/deploys/store.ts'
import { wantedStates } from '../../../../server/apps/source-hosts/reports/plan.ts'
import { createReportWork } from '../../../../server/apps/source-hosts/reports/work.ts'
import { deleteInstallation } from '../../../../server/apps/source-hosts/store/installations.ts'
import { untoldDeploys } from '../../../../server/apps/source-hosts/store/reports.ts'
import { newId } from '../../../../server/platform/id.ts'
import type { DeployStatus } from '../../../../shared/deploy.ts'
import type { SourceHostStatus } from '../../../../shared/source-host.ts'
import { createService } from '../../../support/apps.ts'
import { type Github, startGithub, unforked } from '../../../support/github.ts'
import { githubOperation } from '../../../support/github-schemas.ts'
import { addInstallation, type SourceHostServer, startSourceHostServer } from '../../../support/source-hosts.ts'

const STATUSES = 'POST /repos/{owner}/{repo}/statuses/{sha}'
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

describe('how deploys of a repository at GitHub go', () => {
  let github: Github
  let world: SourceHostServer
  let installationId: string
  let time = Date.now()
  let repositories = 0
  let commits = 0

  beforeAll(async () => {
    github = startGithub()
    world = await startSourceHostServer(github.sharedApp)
    installationId = addInstallation(world.server, { workspaceId: world.workspaceId, provider: 'github' })
  })
  afterAll(async () => {
    await world.close()
    await github.close()
    expect(github.breaches).toEqual([])
  })

  /** A work of its own, as after a start: what the one before knew is in the database or nowhere. */
  async function tellAll(): Promise<void> {
    const end = new AbortController()
    const work = createReportWork({ ...world.server.context, now: () => time, after: () => () => {}, stopping: end.signal })
    work.pokeAll()
    await work.settled()
    end.abort()
  }

  async function makeService(changes: Record<string, unknown> = {}) {
    const repository = `acme/app-${++repositories}`
    const serviceId = await createService(world.server, { name: `app-${repositories}`, repo: `${github.url}/${repository}`, ...changes })
    return { serviceId, repository }
  }

  function deployOf(serviceId: string, commitId = String(++commits).padStart(40, 'c')) {
    const { db } = world.server
    const id = newId('deploy', time + commits)
    const unknown = { sourceId: null, releaseId: null, rollbackOf: null, isCacheCleared: false }
    insertDeploy(db, { id, serviceId, trigger: 'new_commit', createdAt: time, commitId, ...unknown })
    return { id, commitId, becomes: (status: DeployStatus) => updateDeploy(db, id, { status }, time) }
  }

  const sent = (repository: string, part: string) =>
    github.received
      .filter(({ method, path }) => method === 'POST' && path.startsWith(`/repos/${repository}/${part}`))
      .map(({ body }) => body as Record<string, string>)
  const statesOf = (repository: string) => sent(repository, 'statuses/').map(({ state }) => state)
  const progressOf = (repository: string) => sent(repository, 'deployments/').map(({ state }) => state)
  const problem = async () => (await world.api<SourceHostStatus>('/v1/github/status')).body.installations[0]?.problem

  test('is told from the queue to the end, each state once, with links to pages that there are', async () => {
    const { serviceId, repository } = await makeService()
    const deploy = deployOf(serviceId)
    await tellAll()
    await tellAll()
    deploy.becomes('build_in_progress')
    await tellAll()
    deploy.becomes('update_in_progress')
    await tellAll()
    deploy.becomes('live')
    await tellAll()
    expect(statesOf(repository)).toEqual(['pending', 'pending', 'success'])
    expect(progressOf(repository)).toEqual(['queued', 'in_progress', 'success'])
    expect(sent(repository, 'deployments').filter(({ ref }) => ref !== undefined)).toMatchObject([
      { ref: deploy.commitId, environment: `app-${repositories}.localhost-${serviceId.slice(-6)}` },
    ])
    const [{ target_url = '' } = {}] = sent(repository, 'statuses/')
    expect(target_url).toContain(deploy.id)
    expect((await fetch(target_url, { redirect: 'manual' })).status).toBe(303)
    const last = sent(repository, 'deployments/').at(-1)
    expect(last).toMatchObject({ log_url: target_url, environment_url: expect.stringContaining(`app-${repositories}`) })
  })

  test('is told of the newest state alone, and of the one before that it is no longer live', async () => {
    const { serviceId, repository } = await makeService()
    const [first, second] = [deployOf(serviceId), deployOf(serviceId)]
    first.becomes('live')
    await tellAll()
    first.becomes('deactivated')
    second.becomes('live')
    await tellAll()
    expect(statesOf(repository)).toEqual(['success', 'pending', 'success'])
    expect(progressOf(repository)).toEqual(['success', 'queued', 'inactive', 'success'])
  })

  test('of one commit twice has a deployment each, and the newer one decides what is said of the commit', async () => {
    const { serviceId, repository } = await makeService()
    const first = deployOf(serviceId)
    first.becomes('live')
    await tellAll()
    const second = deployOf(serviceId, first.commitId)
    first.becomes('deactivated')
    second.becomes('update_failed')
    await tellAll()
    expect(statesOf(repository)).toEqual(['success', 'failure'])
    expect(new Set(sent(repository, 'deployments').flatMap(({ task }) => task ?? [])).size).toBe(2)
  })

  test('is looked at no more once all of it is told, however many there are', async () => {
    const { serviceId } = await makeService()
    const [over, running, canceled] = [deployOf(serviceId), deployOf(serviceId), deployOf(serviceId)]
    over.becomes('live')
    canceled.becomes('canceled')
    const left = () => untoldDeploys(world.server.db, { workspaceId: world.workspaceId, since: time - HOUR_MS, states: wantedStates })
    expect(left().map(({ id }) => id)).toEqual([over.id, running.id])
    await tellAll()
    expect(left()).toEqual([])
    over.becomes('deactivated')
    expect(left().map(({ id }) => id)).toEqual([over.id])
    await tellAll()
    expect(left()).toEqual([])
  })

  test('has no reason or line of a log in it', async () => {
    const { serviceId, repository } = await makeService()
    const { id } = deployOf(serviceId)
    updateDeploy(world.server.db, id, { status: 'build_failed', reason: 'PASSWORD=hunter2' }, time)
    await tellAll()
    expect(statesOf(repository)).toEqual(['failure'])
    expect(JSON.stringify(github.received)).not.toContain('hunter2')
  })

  test('is told later where GitHub is down, which is asked for nothing else meanwhile, and of the newest state', async () => {
    const { serviceId, repository } = await makeService()
    const [first, second] = [deployOf(serviceId), deployOf(serviceId)]
    github.answer(STATUSES, () => new Response('no', { status: 502 }))
    await tellAll()
    expect(statesOf(repository)).toHaveLength(1)
    expect(await problem()).toContain('are not told there')
    github.answer(STATUSES, undefined)
    await tellAll()
    expect(statesOf(repository)).toHaveLength(1)
    first.becomes('canceled')
    second.becomes('live')
    time += MINUTE_MS
    await tellAll()
    expect(statesOf(repository)).toEqual(['pending', 'error', 'success'])
    expect(await problem()).toBeUndefined()
  })

  test('waits for as long as a limit of the rate says', async () => {
    const { serviceId, repository } = await makeService()
    deployOf(serviceId)
    github.answer(STATUSES, () => new Response('{}', { status: 429, headers: { 'retry-after': '1800' } }))
    await tellAll()
    github.answer(STATUSES, undefined)
    time += 29 * MINUTE_MS
    await tellAll()
    expect(statesOf(repository)).toEqual(['pending'])
    time += 2 * MINUTE_MS
    await tellAll()
    expect(statesOf(repository)).toEqual(['pending', 'pending'])
  })

  test('ends after a day where a repository refuses it, and keeps nobody else waiting', async () => {
    const [refused, other] = [await makeService(), await makeService()]
    const deploy = deployOf(refused.serviceId)
    github.answer(STATUSES, ({ path }) => (path.includes(refused.repository) ? new Response('{}', { status: 404 }) : {}))
    for (let hours = 0; hours < 40; hours += 1) {
      await tellAll()
      time += HOUR_MS
    }
    deployOf(other.serviceId)
    await tellAll()
    expect(statesOf(refused.repository).length).toBeGreaterThan(8)
    expect(statesOf(refused.repository).length).toBeLessThan(14)
    expect(statesOf(other.repository)).toEqual(['pending'])
    github.answer(STATUSES, undefined)
    deploy.becomes('live')
    await tellAll()
    expect(statesOf(refused.repository).at(-1)).toBe('success')
  })

  test('goes on under the new name of a repository that was renamed', async () => {
    const { serviceId, repository } = await makeService()
    deployOf(serviceId)
    const moved = new Response(null, { status: 307, headers: { location: `${github.url}/api/v3/repositories/1` } })
    github.answer(STATUSES, ({ path }) => (path.includes(repository) ? moved : {}))
    github.answer('GET /repos/{owner}/{repo}', ({ path }) => ({
      ...unforked,
      full_name: path.endsWith(repository) ? 'acme/renamed' : path,
    }))
    await tellAll()
    time += 2 * MINUTE_MS
    await tellAll()
    for (const name of [STATUSES, 'GET /repos/{owner}/{repo}']) github.answer(name, undefined)
    expect(statesOf('acme/renamed')).toEqual(['pending'])
    expect(progressOf('acme/renamed')).toEqual(['queued'])
  })

  test('is told again after a kill between the word and its record, of the deployment that there is', async () => {
    const { serviceId, repository } = await makeService()
    const { id } = deployOf(serviceId)
    await tellAll()
    world.server.db.query('UPDATE commit_reports SET told = NULL, report_id = NULL WHERE id = ?').run(id)
    const [path = ''] = github.received.map((one) => one.path).filter((one) => one.startsWith(`/repos/${repository}/deployments/`))
    const { example } = githubOperation('GET', '/repos/a/b/deployments') ?? {}
    const made = { ...(example as object[])[0], id: Number(path.split('/')[5]) }
    github.answer('GET /repos/{owner}/{repo}/deployments', ({ query }) => (query.get('task') === `deploy:${id}` ? [made] : []))
    await tellAll()
    github.answer('GET /repos/{owner}/{repo}/deployments', undefined)
    expect(progressOf(repository)).toEqual(['queued', 'queued'])
    expect(sent(repository, 'deployments').filter(({ task }) => task !== undefined)).toHaveLength(1)
  })

  test('of a service that is deleted is told to be over, and then forgotten', async () => {
    const { serviceId, repository } = await makeService()
    deployOf(serviceId).becomes('live')
    await tellAll()
    const rows = () => world.server.db.query('SELECT told FROM commit_reports WHERE deploy_id IS NULL').all()
    world.server.db.query('DELETE FROM services WHERE id = ?').run(serviceId)
    expect(rows()).toHaveLength(1)
    await tellAll()
    expect(progressOf(repository)).toEqual(['success', 'inactive'])
    await tellAll()
    expect(rows()).toEqual([])
  })

  test('of another host, of no repository, or of a workspace that is connected to nothing, nobody hears', async () => {
    const elsewhere = await makeService({ repo: 'https://git.example.com/acme/shop' })
    const others = await makeService({ repo: `${github.url}/others/shop` })
    const { serviceId } = await makeService()
    for (const id of [elsewhere.serviceId, others.serviceId]) deployOf(id)
    const before = github.received.length
    await tellAll()
    deleteInstallation(world.server.db, installationId)
    deployOf(serviceId)
    await tellAll()
    expect(github.received).toHaveLength(before)
  })
})
