import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { releaseSecrets } from '../../../../server/apps/deploys/release-store.ts'
import type { Deploy } from '../../../../shared/deploy.ts'
import type { EnvGroup } from '../../../../shared/env-group.ts'
import { type FakePlatform, startFakePlatform } from '../../../support/fake-platform.ts'
import { deploySource } from '../../../support/fake-source.ts'
import type { TestService } from '../../../support/service.ts'
import { deploysOf, goLive, groupsOn, link, resolvedOf, says, setOwn, speaking, type TestGroup, toldBy } from './group-world.ts'

let platform: FakePlatform
let on: ReturnType<typeof groupsOn>
beforeAll(async () => {
  platform = await startFakePlatform({ CP_BUILD_CONCURRENCY: '2' })
  on = groupsOn(platform)
})
afterAll(() => platform.close())

/** Waits for every deploy that a change made. */
async function settled(changed: EnvGroup, ...services: TestService[]): Promise<void> {
  const made = deploysOf(changed)
  for (const service of services) {
    const deployId = made.get(service.name)?.deployId ?? ''
    expect(await service.ends(deployId)).toMatchObject({ status: 'live', trigger: 'service_updated' })
  }
}

const set = (group: TestGroup, key: string, value: string) => group.put(`/env-vars/${key}?deploy=true`, { value })

describe('precedence', () => {
  test("is the service's own, then the group that was linked later, and each hides the others", async () => {
    const service = await speaking(platform, '$A $B $C')
    const early = await on.group({ A: 'early', B: 'early', C: 'early' })
    const late = await on.group({ A: 'late', B: 'late' })
    await setOwn(service, { A: 'own' })
    await link(service, early, late)
    await goLive(platform, service)
    expect(await says(platform, service)).toBe('own late early')
    const all = await resolvedOf(service)
    const group = ({ id, name }: TestGroup) => ({ type: 'group', id, name })
    expect(all.get('A')).toMatchObject({ source: { type: 'service' }, hides: [group(late), group(early)], isLive: true })
    expect(all.get('B')).toMatchObject({ value: 'late', source: group(late), hides: [group(early)] })
    expect(all.get('C')).toMatchObject({ value: 'early', source: group(early), hides: [] })
  })

  test('follows the order of linking, which linking again does not change', async () => {
    const service = await speaking(platform, '$A')
    const [one, other] = [await on.group({ A: 'one' }), await on.group({ A: 'other' })]
    await link(service, one, other, one)
    expect((await resolvedOf(service)).get('A')?.value).toBe('other')
    await one.ask(`/services/${service.id}`, { method: 'DELETE' })
    await link(service, one)
    expect((await resolvedOf(service)).get('A')?.value).toBe('one')
  })

  test('of secret files is the same', async () => {
    const service = await speaking(platform, 'x', { secretFiles: [{ name: 'own.pem', content: 'own' }] })
    const files = (content: string) => ['own.pem', 'both.pem', `${content}.pem`].map((name) => ({ name, content }))
    await link(service, await on.group({}, { secretFiles: files('early') }), await on.group({}, { secretFiles: files('late') }))
    const { id } = await goLive(platform, service)
    const held = platform.context.db.query<{ release: string }, [string]>('SELECT release_id AS release FROM deploys WHERE id = ?').get(id)
    const contents = releaseSecrets(platform.context, held?.release ?? '').secretFiles.map(({ name, content }) => `${name} ${content}`)
    expect(contents).toEqual(['both.pem late', 'early.pem early', 'late.pem late', 'own.pem own'])
  })
})

describe('a change of a group', () => {
  test('touches those alone who get something otherwise, references and all, and deploys nothing unless asked to', async () => {
    const group = await on.group({ HOST: 'old' })
    const [plain, hiding, referring, other] = [
      await speaking(platform, '$HOST'),
      await speaking(platform, '$HOST'),
      await speaking(platform, '$URL'),
      await speaking(platform, '$HOST'),
    ]
    await setOwn(hiding, { HOST: 'mine' })
    await setOwn(referring, { URL: 'pg://${HOST}' })
    for (const service of [plain, hiding, referring]) await link(service, group)
    const changed = await group.put('/env-vars/HOST', { value: 'new' })
    expect(toldBy(changed)).toEqual({ [plain.name]: 'HOST', [referring.name]: 'HOST,URL' })
    expect(changed.touched?.every(({ deployId, skipped }) => deployId === undefined && skipped === undefined)).toBe(true)
    expect(toldBy(await group.put('/env-vars/HOST', { value: 'new' }))).toEqual({})
    expect((await other.ask<unknown[]>('/deploys')).body).toEqual([])
  })

  test('deploys exactly them when asked to, without a build, and a rollback brings the old value to one of them alone', async () => {
    const group = await on.group({ HOST: 'old', OTHER: 'x' })
    const [one, two, hiding] = [await speaking(platform, '$HOST'), await speaking(platform, '$HOST'), await speaking(platform, '$HOST')]
    await setOwn(hiding, { HOST: 'mine' })
    for (const service of [one, two, hiding]) {
      await link(service, group)
      await goLive(platform, service)
    }
    const changed = await set(group, 'HOST', 'new')
    expect(toldBy(changed)).toEqual({ [one.name]: 'HOST', [two.name]: 'HOST' })
    await settled(changed, one, two)
    expect([await says(platform, one), await says(platform, two), await says(platform, hiding)]).toEqual(['new', 'new', 'mine'])
    expect((await hiding.ask<unknown[]>('/deploys')).body).toHaveLength(1)
    expect((await one.events()).filter(({ type }) => type === 'build_started')).toHaveLength(1)

    const { body } = await one.ask<Deploy>('/rollback', { json: {} })
    await one.ends(body.id)
    expect([await says(platform, one), await says(platform, two)]).toEqual(['old', 'new'])
    expect((await one.ask<unknown[]>('/env-vars')).body).toEqual([])
    expect((await resolvedOf(one)).get('HOST')).toMatchObject({ value: 'new', isLive: false, source: { name: group.name } })
  })

  test('deploys what an earlier change has left behind as well', async () => {
    const group = await on.group({ A: '1', B: '1' })
    const service = await speaking(platform, '$A$B')
    await link(service, group)
    await goLive(platform, service)
    await group.put('/env-vars/A', { value: '2' })
    const changed = await set(group, 'B', '1')
    expect(toldBy(changed)).toEqual({ [service.name]: 'A' })
    await settled(changed, service)
    expect(await says(platform, service)).toBe('21')
    expect(toldBy(await set(group, 'B', '1'))).toEqual({})
  })

  test('skips whom it cannot deploy, and says why', async () => {
    const group = await on.group({ A: '1' })
    const [fresh, suspended, broken] = [
      await speaking(platform, '$A'),
      await speaking(platform, '$A'),
      await speaking(platform, '$B', { envVars: [{ key: 'B', value: '${A}', interpolate: true }] }),
    ]
    for (const service of [fresh, suspended, broken]) await link(service, group)
    await goLive(platform, suspended)
    await goLive(platform, broken)
    await suspended.ask('/suspend', { method: 'POST' })
    const { status, body } = await group.ask('/env-vars/A?deploy=true', { method: 'DELETE' })
    expect(status).toBe(200)
    const told = deploysOf(body)
    expect(told.get(fresh.name)).toMatchObject({ skipped: expect.stringContaining('Nothing of it is live yet') })
    expect(told.get(suspended.name)).toMatchObject({ skipped: expect.stringContaining('suspended') })
    expect(told.get(broken.name)).toMatchObject({
      envVars: ['A', 'B'],
      problem: 'B refers to A, which is not set',
      skipped: expect.stringContaining('B refers to A, which is not set'),
    })
    expect(await says(platform, broken)).toBe('1')
  })

  test('never puts an older build in the place of one that is on its way', async () => {
    const group = await on.group({ A: '1' })
    const service = await speaking(platform, '$A')
    await link(service, group)
    await goLive(platform, service)
    const newer = await deploySource(platform, service, 'a newer app')
    const newerSource = (await service.deploy(newer)).source?.id
    const changed = await set(group, 'A', '2')
    const deployId = deploysOf(changed).get(service.name)?.deployId ?? ''
    await service.ends(deployId)
    expect((await service.deploy(deployId)).source?.id).toBe(newerSource)
    expect(await says(platform, service)).toBe('2')
  })

  test('is told of links, of secret files and of a deletion too', async () => {
    const group = await on.group({ A: '1' })
    const service = await speaking(platform, '$A')
    await goLive(platform, service)
    const linked = await group.ask(`/services/${service.id}?deploy=true`, { method: 'POST' })
    await settled(linked.body, service)
    expect(await says(platform, service)).toBe('1')
    expect(toldBy(await group.put('/secret-files/a.pem', { content: 'x' }))).toEqual({ [service.name]: 'a.pem' })
    expect(toldBy(await group.put('/secret-files/a.pem', { content: 'x' }))).toEqual({})
    const refused = await group.ask('', { method: 'DELETE' })
    expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining(service.name) } })
    const deleted = await group.ask('?force=true&deploy=true', { method: 'DELETE' })
    expect(toldBy(deleted.body)).toEqual({ [service.name]: 'A,a.pem' })
    await settled(deleted.body, service)
    expect(await says(platform, service)).toBe('')
    expect((await group.ask('')).status).toBe(404)
  })
})

test('at most as many as there are places are deployed at a time', async () => {
  const group = await on.group({ A: '1' })
  const services = await Promise.all(Array.from({ length: 6 }, () => speaking(platform, '$A')))
  for (const service of services) {
    await link(service, group)
    await goLive(platform, service)
  }
  const running = () =>
    platform.db.query<{ count: number }, []>("SELECT count(*) AS count FROM deploys WHERE finished_at IS NULL AND status <> 'queued'").get()
      ?.count ?? 0
  const changed = await set(group, 'A', '2')
  let most = 0
  const ends = services.map((service) => service.ends(deploysOf(changed).get(service.name)?.deployId ?? ''))
  for (let left = true; left; ) {
    most = Math.max(most, running())
    left = await Promise.race([Promise.all(ends).then(() => false), new Promise<boolean>((resolve) => setImmediate(resolve, true))])
  }
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(2)
  for (const service of services) expect(await says(platform, service)).toBe('2')
})
