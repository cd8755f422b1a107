import { afterAll, beforeAll, expect, test } from 'vitest'
import { createService } from '../../../support/apps.ts'
import { type Developer, newDeveloper } from '../../../support/git.ts'
import { defaultWorkspaceId } from '../../../support/members.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'

const SERVICES = 5
const PUSHES_EACH = 4

let platform: Platform
let developer: Developer
beforeAll(async () => {
  platform = await startPlatform()
  developer = newDeveloper()
})
afterAll(async () => {
  developer.leave()
  await platform.close()
})

test('of twenty pushes at once to five services one of each is live, and the others are told to push again', async () => {
  const workspaceId = await defaultWorkspaceId(platform)
  const services = Array.from({ length: SERVICES }, (_, at) => `site-${at}`)
  for (const name of services) await createService(platform, { name, type: 'static_site', serviceDetails: { publishPath: '.' } })
  const push = (service: string, dir: string) =>
    developer.runWith(platform.adminToken, dir, 'push', '--force', `${platform.url}/git/${workspaceId}/${service}.git`, 'main')
  const clones = await Promise.all(
    services.flatMap((service) =>
      Array.from({ length: PUSHES_EACH }, async (_, at) => {
        const dir = await developer.begin(`${service}-${at}`, { 'index.html': `${service} ${at}` })
        return { service, dir, text: `${service} ${at}` }
      }),
    ),
  )
  const pushed = await Promise.all(clones.map(async (clone) => ({ ...clone, ...(await push(clone.service, clone.dir)) })))
  for (const service of services) {
    const own = pushed.filter((one) => one.service === service)
    const taken = own.filter(({ exitCode }) => exitCode === 0)
    expect(taken.length).toBeGreaterThan(0)
    for (const { stderr } of own.filter(({ exitCode }) => exitCode !== 0))
      expect(stderr).toMatch(/Another push to this service came before|Too many uploads|fetch first|push again|Push again/)
    const again = own.find(({ exitCode }) => exitCode !== 0)
    if (again !== undefined) expect(await push(service, again.dir)).toMatchObject({ exitCode: 0 })
  }
  const open = platform.context.db.query('SELECT count(*) AS count FROM git_pushes').get()
  expect(open).toEqual({ count: 0 })
})
