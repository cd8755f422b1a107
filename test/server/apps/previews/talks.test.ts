import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { reconcilePreviews } from '../../../../server/apps/previews/reconcile.ts'
import { noteRequest } from '../../../../server/apps/previews/requests.ts'
import { changePreview, findPreview, previewsOf, type StoredPreview } from '../../../../server/apps/previews/store.ts'
import { createPreviewWork } from '../../../../server/apps/previews/work.ts'
import { serviceById } from '../../../../server/apps/services/store.ts'
import type { HostRequestToMerge } from '../../../../server/apps/source-hosts/port.ts'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { defaultWorkspaceId } from '../../../support/members.ts'
import { type RequestHost, startRequestHost } from '../../../support/request-host.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { addInstallation } from '../../../support/source-hosts.ts'

const MINUTE_MS = 60_000
const commit = 'a'.repeat(40)

let server: TestServer
let host: RequestHost
let parentId: string
let time = Date.now()
let count = 0

beforeAll(async () => {
  host = startRequestHost()
  server = await startTestServer({ env: { CP_GITEA_URL: host.url } })
  addInstallation(server, { workspaceId: await defaultWorkspaceId(server), provider: 'gitea' })
})
afterAll(async () => {
  await server?.close()
  await host.close()
})

/** A service of its own for each test, and a host that knows of nothing. */
beforeEach(async () => {
  host.reset()
  time += 60 * MINUTE_MS
  const previews = { generation: 'automatic' }
  parentId = await createService(server, {
    ...{ name: `shop-${++count}`, repo: `${host.url}/ada/shop`, branch: 'main', autoDeploy: 'no' },
    serviceDetails: { previews },
  })
  return () => call(`${server.url}/v1/services/${parentId}`, { method: 'DELETE', token: server.adminToken })
})

/** All that is to be done, by a work of its own, as after a start. */
async function workOnce(): Promise<void> {
  const end = new AbortController()
  const work = createPreviewWork({ ...server.context, now: () => time, after: () => () => {}, stopping: end.signal })
  for (let round = 0; round < 2; round += 1) {
    work.pokeAll()
    await work.settled()
  }
  end.abort()
}

const known = (number: number): StoredPreview | undefined => findPreview(server.db, { parentId, number })
const openNumbers = () =>
  previewsOf(server.db, parentId)
    .filter(({ isOpen }) => isOpen)
    .map(({ number }) => number)
const told = (fields: Partial<HostRequestToMerge> = {}): HostRequestToMerge => ({
  ...{ number: 1, title: 'Sell hats', url: `${host.url}/ada/shop/pulls/1`, isOpen: true, isFork: false },
  ...{ branch: 'hats', repository: 'ada/shop', commit, into: { branch: 'main', isDefault: true }, labels: [] },
  ...fields,
})
const hear = (fields: Partial<HostRequestToMerge>) => {
  const parent = serviceById(server.db, parentId)
  if (parent !== undefined) noteRequest({ ...server.context, now: () => time }, parent, told(fields))
}

describe('a look at the requests of a host', () => {
  test('finds those that are open, on all pages, and those that were closed or are gone meanwhile', async () => {
    for (let number = 1; number <= 25; number += 1) host.put({ number, owner: 'eve' })
    await workOnce()
    expect(openNumbers()).toHaveLength(25)
    host.put({ number: 3, state: 'closed' })
    host.remove(4)
    time += 5 * MINUTE_MS
    await workOnce()
    expect(openNumbers()).toHaveLength(23)
    expect(known(3)?.isOpen).toBe(false)
    expect(host.asked.filter((one) => /^GET pulls\/\d/.test(one))).toEqual(['GET pulls/4', 'GET pulls/3'])
  })

  test('takes none for closed that moved to a page which was read already', async () => {
    for (let number = 1; number <= 11; number += 1) host.put({ number, owner: 'eve' })
    await workOnce()
    let isFirst = true
    host.meanwhile = (asked) => {
      if (asked === 'GET pulls' && isFirst) host.put({ number: 11, state: 'closed' })
      isFirst = false
    }
    await workOnce()
    expect(openNumbers()).toContain(1)
  })

  test('takes back nothing that a delivery told of while the host was asked', async () => {
    host.put({ number: 1, owner: 'eve' })
    await workOnce()
    const next = 'b'.repeat(40)
    host.meanwhile = (asked) => {
      time += 1
      if (asked === 'GET pulls') hear({ isFork: true, repository: 'eve/shop', commit: next })
    }
    await workOnce()
    expect(known(1)?.headCommit).toBe(next)
  })

  test('leaves a host alone that is down, for a minute', async () => {
    host.failWith(503)
    await workOnce()
    expect(host.asked).toHaveLength(1)
    await workOnce()
    expect(host.asked).toHaveLength(1)
    host.failWith(0)
    host.put({ number: 1 })
    time += MINUTE_MS + 1
    await workOnce()
    expect(openNumbers()).toEqual([1])
  })
})

describe('what strangers do', () => {
  test('takes the place of no request of the repository itself', () => {
    for (let number = 1; number <= 310; number += 1) hear({ number, isFork: true, repository: 'eve/shop' })
    hear({ number: 400 })
    expect(previewsOf(server.db, parentId).filter(({ isFork }) => isFork)).toHaveLength(300)
    expect(known(400)).toBeDefined()
  })

  test('is built once for an approval, however often they close the request and open it again', async () => {
    const ofEve = { isFork: true, repository: 'eve/shop' }
    hear(ofEve)
    const path = `${server.url}/v1/services/${parentId}/previews/1/approve`
    await call(path, { json: { commitId: commit }, token: server.adminToken })
    reconcilePreviews(server.context, parentId)
    expect(known(1)?.serviceId).not.toBeNull()
    for (const isOpen of [false, true]) {
      hear({ ...ofEve, isOpen })
      reconcilePreviews(server.context, parentId)
      expect(known(1) ?? { serviceId: null, approvedCommit: null }).toMatchObject({ serviceId: null, approvedCommit: null })
    }
  })

  test('is approved by no label, and by nobody for another repository', async () => {
    hear({ isFork: true, repository: 'eve/shop', labels: ['preview'] })
    reconcilePreviews(server.context, parentId)
    expect(known(1)).toMatchObject({ serviceId: null, approvedCommit: null })
    const path = `${server.url}/v1/services/${parentId}`
    await call(`${path}/previews/1/approve`, { json: { commitId: commit }, token: server.adminToken })
    expect(known(1)?.approvedCommit).toBe(commit)
    await call(path, { method: 'PATCH', json: { repo: `${host.url}/ada/hats` }, token: server.adminToken })
    hear({ isFork: true, repository: 'eve/hats' })
    expect(known(1)).toMatchObject({ approvedCommit: null, isAsked: false, commentMark: null, commentId: null })
  })
})

describe('the comment at a request', () => {
  const bodies = () => host.comments.map(({ body }) => body)

  test('is made once and changed in place', async () => {
    host.put({ number: 1, owner: 'eve' })
    await workOnce()
    await workOnce()
    expect(bodies()).toEqual([expect.stringContaining('comes from a fork')])
    host.put({ number: 1, state: 'closed' })
    time += 5 * MINUTE_MS
    await workOnce()
    expect(bodies()).toEqual([expect.stringContaining('its preview is gone')])
  })

  test('is not made again after a kill that came before its making was heard of, nor is a copy taken for it', async () => {
    host.put({ number: 1, owner: 'eve' })
    await workOnce()
    const [{ body = '' } = {}] = host.comments
    host.comments.push({ id: 2, number: 1, body: `Not ours. ${body}` })
    changePreview(server.db, { parentId, number: 1 }, { commentId: null, commentText: '' })
    await workOnce()
    expect(bodies()).toEqual([expect.stringContaining('comes from a fork'), expect.stringContaining('Not ours')])
    expect(known(1)?.commentId).toBe('1')
  })

  test('that people have removed is made again by the next change alone', async () => {
    host.put({ number: 1, owner: 'eve' })
    await workOnce()
    host.comments.length = 0
    await workOnce()
    expect(bodies()).toEqual([])
    host.put({ number: 1, sha: 'b'.repeat(40) })
    for (let minute = 0; minute < 8; minute += 1) {
      time += MINUTE_MS
      await workOnce()
    }
    expect(bodies()).toEqual([expect.stringContaining('bbbbbbbb')])
  })

  test('that the host refuses keeps no preview from being made', async () => {
    hear({})
    host.failWith(403)
    await workOnce()
    expect(known(1)).toMatchObject({ serviceId: expect.any(String), commentText: '', commentAttempts: 1 })
    await workOnce()
    expect(known(1)?.commentAttempts).toBe(1)
  })
})
