import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertDeploy } from '../../../../server/apps/deploys/store.ts'
import { takePush } from '../../../../server/apps/repositories/push.ts'
import type { Push } from '../../../../server/apps/repositories/push-plan.ts'
import { waitOf } from '../../../../server/apps/repositories/wait-store.ts'
import { wokenLookAt } from '../../../../server/apps/source-hosts/checks/plan.ts'
import { createCheckWork } from '../../../../server/apps/source-hosts/checks/work.ts'
import { newId } from '../../../../server/platform/id.ts'
import type { Deploy } from '../../../../shared/deploy.ts'
import type { Event } from '../../../../shared/event.ts'
import type { Service } from '../../../../shared/service.ts'
import { createService } from '../../../support/apps.ts'
import { type Github, githubApp, githubInstallation, startGithub } from '../../../support/github.ts'
import { everyEvent } from '../../../support/service.ts'
import { addInstallation, type SourceHostServer, signatureOf, startSourceHostServer } from '../../../support/source-hosts.ts'

const STATUS = 'GET /repos/{owner}/{repo}/commits/{ref}/status'
const MINUTE_MS = 60_000

describe('a service that deploys what has passed its checks', () => {
  let github: Github
  let world: SourceHostServer
  let time = Date.now()
  let made = 0

  beforeAll(async () => {
    github = startGithub()
    world = await startSourceHostServer(github.sharedApp)
    addInstallation(world.server, { workspaceId: world.workspaceId, provider: 'github' })
  })
  afterAll(async () => {
    await world.close()
    await github.close()
    expect(github.breaches).toEqual([])
  })

  const context = () => ({ ...world.server.context, now: () => time, after: () => () => {} })

  /** A work of its own, as after a start: what the one before knew is in the database or nowhere. */
  async function lookAll(passMs = 0): Promise<void> {
    time += passMs
    const end = new AbortController()
    const work = createCheckWork({ ...context(), stopping: end.signal })
    work.pokeAll()
    await work.settled()
    end.abort()
  }

  async function makeService(body: Record<string, unknown> = {}) {
    const repo = `${github.url}/acme/waits-${++made}`
    const id = await createService(world.server, { name: `waits-${made}`, repo, branch: 'main', autoDeployTrigger: 'checksPass', ...body })
    const { db } = world.server
    return {
      id,
      repo,
      push: (commit: string, changes: Partial<Push> = {}) =>
        db.transaction(() =>
          takePush(context(), {
            ...{ workspaceId: world.workspaceId, urls: [repo], branch: 'main', isDefaultBranch: true, commit, message: 'Change' },
            ...{ changedPaths: undefined, isDeleted: false, haveChecksPassed: false, ...changes },
          }),
        )(),
      waiting: () => waitOf(db, id)?.commitId,
      deployed: async () =>
        (await world.api<{ deploy: Deploy }[]>(`/v1/services/${id}/deploys`)).body.flatMap(({ deploy }) => deploy.commit?.id ?? []),
      state: async () => (await world.api<Service>(`/v1/services/${id}`)).body.repositoryState?.waiting,
      told: async () =>
        (await world.api<{ event: Event }[]>(`/v1/services/${id}/events?${everyEvent}`)).body
          .map(({ event }) => event.type)
          .filter((type) => type.startsWith('commit_'))
          .reverse(),
      ignored: async () =>
        (await world.api<{ event: Event }[]>(`/v1/services/${id}/events?${everyEvent}`)).body
          .filter(({ event }) => event.type === 'commit_ignored')
          .map(({ event }) => event.details as unknown as { commitId: string; reason: string }),
    }
  }

  /** Somebody deploys something else. */
  function createDeployOf(serviceId: string): void {
    const unknown = { sourceId: null, releaseId: null, rollbackOf: null, isCacheCleared: false }
    insertDeploy(world.server.db, { id: newId('deploy', time), serviceId, trigger: 'manual', createdAt: time, ...unknown })
  }

  const commitOf = (letter: string) => letter.repeat(40)
  const [first, second] = [commitOf('a'), commitOf('b')]

  /** What is said of all commits from now on. */
  const say = (...states: string[]) => {
    const statuses = states.map((state, at) => ({ ...example, id: at + 1, context: `ci/${at}`, state }))
    github.answer(STATUS, () => ({ state: 'pending', statuses, total_count: statuses.length }))
  }
  const example = {
    url: 'https://api.github.com',
    avatar_url: null,
    node_id: 'x',
    description: null,
    target_url: null,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  }

  test('deploys it when they have passed, and not while some go on or have just begun to pass', async () => {
    const service = await makeService()
    say('pending', 'success')
    expect(service.push(first)).toBe(true)
    await lookAll()
    say('success')
    await lookAll(MINUTE_MS)
    expect(await service.deployed()).toEqual([])
    await lookAll(3 * MINUTE_MS)
    expect(await service.deployed()).toEqual([])
    await lookAll(10_000)
    expect(await service.deployed()).toEqual([first])
    expect(service.waiting()).toBeUndefined()
  })

  test('begins anew where others follow on those that have passed', async () => {
    const service = await makeService()
    say('success')
    service.push(first)
    await lookAll()
    say('success', 'pending')
    await lookAll(10_000)
    expect(await service.deployed()).toEqual([])
    say('success', 'success')
    await lookAll(3 * MINUTE_MS)
    await lookAll(10_000)
    expect(await service.deployed()).toEqual([first])
  })

  test('does not deploy it when one has failed, and an event says which', async () => {
    const service = await makeService()
    say('success', 'failure')
    service.push(first)
    await lookAll()
    await lookAll(30 * MINUTE_MS)
    expect(await service.told()).toEqual(['commit_waiting', 'commit_ignored'])
    expect(await service.ignored()).toMatchObject([{ commitId: first, reason: expect.stringContaining('Its check ci/1 has failed.') }])
    expect(await service.deployed()).toEqual([])
    expect(await service.state()).toMatchObject({ commitId: first, for: 'its check ci/1 to pass when it is run again' })
    await lookAll(24 * 60 * MINUTE_MS)
    expect([await service.state(), (await service.told()).length]).toEqual([undefined, 2])
  })

  test('deploys it when what has failed passes in another run, and not what has been overtaken by then', async () => {
    const [rerun, pushed, deployed, eager] = [await makeService(), await makeService(), await makeService(), await makeService()]
    const all = [rerun, pushed, deployed, eager]
    say('failure')
    for (const service of all) service.push(first)
    await lookAll()
    pushed.push(second, { message: 'Words [skip deploy]' })
    time += MINUTE_MS
    createDeployOf(deployed.id)
    await world.api(`/v1/services/${eager.id}`, { method: 'PATCH', json: { autoDeployTrigger: 'commit' } })
    say('pending')
    await lookAll(31 * MINUTE_MS)
    expect(await rerun.state()).toMatchObject({ for: 'its check ci/0' })
    say('success')
    await lookAll(31 * MINUTE_MS)
    await lookAll(10_000)
    expect(await Promise.all(all.map((service) => service.deployed()))).toEqual([[first], [], [], []])
    expect(all.map((service) => service.waiting())).toEqual([undefined, undefined, undefined, undefined])
  })

  test('tells what a commit waits for, and since when', async () => {
    const service = await makeService()
    say()
    const since = new Date(time).toISOString()
    service.push(first, { message: 'Mend the door' })
    expect(await service.state()).toEqual({ commitId: first, message: 'Mend the door', since, for: 'its checks' })
    await lookAll()
    expect(await service.state()).toMatchObject({ since, for: 'somebody to tell of its checks' })
    say('success', 'pending')
    await lookAll(3 * MINUTE_MS)
    expect(await service.state()).toMatchObject({ since, for: 'its check ci/1' })
    say('success', 'success')
    await lookAll(3 * MINUTE_MS)
    expect(await service.state()).toMatchObject({ since, for: 'its checks to stay passed for some seconds' })
    await lookAll(10_000)
    expect([await service.state(), await service.told()]).toEqual([undefined, ['commit_waiting']])
  })

  test('waits for the newest push alone, whatever is said of the one before, and for none of a branch that is gone', async () => {
    const service = await makeService()
    say('pending')
    service.push(first)
    await lookAll()
    service.push(second)
    service.push(second)
    expect(service.waiting()).toBe(second)
    service.push(commitOf('c'), { message: 'Words [skip deploy]' })
    expect(service.waiting()).toBe(second)
    service.push('', { isDeleted: true })
    expect(service.waiting()).toBeUndefined()
  })

  test('waits no more after a day, and an event says so', async () => {
    const service = await makeService()
    say()
    service.push(first)
    for (let hours = 0; hours <= 24; hours += 1) await lookAll(60 * MINUTE_MS)
    expect(await service.ignored()).toMatchObject([{ commitId: first, reason: expect.stringContaining('within a day') }])
    expect(service.waiting()).toBeUndefined()
  })

  test('goes on waiting while the host is down or lies, which ends after a day too', async () => {
    const service = await makeService()
    github.answer(STATUS, () => new Response('<html>', { status: 200 }))
    service.push(first)
    await lookAll()
    say('success')
    await lookAll(3 * MINUTE_MS)
    await lookAll(10_000)
    expect(await service.deployed()).toEqual([first])
    github.answer(STATUS, () => new Response('no', { status: 500 }))
    service.push(second)
    for (let hours = 0; hours <= 25; hours += 1) await lookAll(60 * MINUTE_MS)
    expect(await service.ignored()).toMatchObject([{ commitId: second, reason: expect.stringContaining('Nobody could tell') }])
  })

  test('looks again within minutes after a host that was away for long, and not before it says that it may be asked', async () => {
    const service = await makeService()
    github.answer(STATUS, () => new Response('no', { status: 502 }))
    service.push(first)
    for (let looks = 0; looks < 40; looks += 1) await lookAll(3 * MINUTE_MS)
    github.answer(STATUS, () => new Response('{}', { status: 429, headers: { 'retry-after': '1800' } }))
    await lookAll(3 * MINUTE_MS)
    say('success')
    await lookAll(29 * MINUTE_MS)
    expect(await service.deployed()).toEqual([])
    await lookAll(2 * MINUTE_MS)
    await lookAll(10_000)
    expect(await service.deployed()).toEqual([first])
  })

  test('that is suspended meanwhile goes on to wait when it is resumed', async () => {
    const service = await makeService()
    say('pending')
    service.push(first)
    await lookAll()
    const turn = async (to: string) =>
      expect((await world.api(`/v1/services/${service.id}/${to}`, { method: 'POST' })).status).toBeLessThan(300)
    await turn('suspend')
    say('success')
    await lookAll(4 * MINUTE_MS)
    await lookAll(10_000)
    expect([service.waiting(), await service.deployed()]).toEqual([first, []])
    await turn('resume')
    await lookAll()
    await lookAll(10_000)
    expect([service.waiting(), await service.deployed()]).toEqual([undefined, [first]])
  })

  test('has nobody to ask of a repository that no account is connected for, and says so at once', async () => {
    const service = await makeService({ repo: 'https://git.example.com/acme/shop' })
    service.push(first, { urls: ['https://git.example.com/acme/shop'] })
    await lookAll()
    expect(await service.ignored()).toMatchObject([{ reason: expect.stringContaining('cpctl sourcehost connect') }])
  })

  test('that follows something else by now, or deploys nothing by itself, waits no more', async () => {
    const [moved, off, eager] = [await makeService(), await makeService(), await makeService()]
    say('pending')
    for (const service of [moved, off, eager]) service.push(first)
    const change = (id: string, json: Record<string, unknown>) => world.api(`/v1/services/${id}`, { method: 'PATCH', json })
    await change(moved.id, { branch: 'other' })
    await change(off.id, { autoDeployTrigger: 'off' })
    await change(eager.id, { autoDeployTrigger: 'commit' })
    await lookAll()
    await lookAll(10_000)
    expect([moved.waiting(), off.waiting(), eager.waiting()]).toEqual([undefined, undefined, undefined])
    expect([await moved.deployed(), await off.deployed(), await eager.deployed()]).toEqual([[], [], [first]])
  })

  test('looks at once when the host tells of a check of that commit, and not for other commits', async () => {
    const service = await makeService()
    say('pending')
    service.push(first)
    await lookAll()
    const dueIn = () => (waitOf(world.server.db, service.id)?.nextLookAt ?? 0) - time
    const tell = (sha: string) => {
      const raw = JSON.stringify({
        installation: { id: githubInstallation },
        sha,
        repository: { full_name: 'acme/x', clone_url: `${service.repo}.git`, html_url: service.repo },
        at: crypto.randomUUID(),
      })
      return world.api('/v1/github/webhook', {
        raw,
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'status',
          'x-github-delivery': crypto.randomUUID(),
          'x-github-hook-installation-target-id': githubApp.id,
          'x-hub-signature-256': `sha256=${signatureOf(raw, githubApp.webhookSecret)}`,
        },
      })
    }
    expect((await tell(second)).status).toBe(202)
    expect(dueIn()).toBeGreaterThan(MINUTE_MS)
    expect((await tell(first)).status).toBe(202)
    expect(dueIn()).toBeLessThan(MINUTE_MS)
  })
})

test('a host that tells of each of many checks is not asked after each', () => {
  const wait = { nextLookAt: 100_000, lookedAt: 50_000 } as Parameters<typeof wokenLookAt>[0]
  expect([50_500, 60_000].map((now) => wokenLookAt(wait, now))).toEqual([53_000, 60_000])
})
