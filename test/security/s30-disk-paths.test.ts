import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mountPathProblem } from '../../server/apps/disks/rules.ts'
import { createProcessEngine } from '../../server/engines/process/engine.ts'
import type { ProcessEngine } from '../../server/engines/process/spec.ts'
import { makeWorld, runToEnd, type World } from '../engines/process/support/world.ts'
import { createService } from '../support/apps.ts'
import { call } from '../support/client.ts'
import { startPlatform } from '../support/platform.ts'

test.each(['/var/lib/extrausers', '/var/lib/extrausers/x', '/var/lib/sss', '/var/db', '/var/lib/nscd', '/etc'])(
  'S30: no disk is at %s, where it is told who somebody is',
  (path) => {
    expect(mountPathProblem(path)).toContain('belongs to the system')
  },
)

describe.runIf(process.getuid?.() === 0)('S30: a disk below a folder that the service may not enter', () => {
  let world: World
  let engine: ProcessEngine
  let place: string

  beforeAll(async () => {
    world = makeWorld()
    engine = await createProcessEngine({ stateDir: world.stateDir, label: `cpd-test-paths-${process.pid}` })
    place = realpathSync(mkdtempSync('/srv/cpd-test-paths-'))
    chmodSync(place, 0o755)
    mkdirSync(join(place, 'closed'), { mode: 0o700 })
    mkdirSync(join(place, 'narrow'), { mode: 0o711 })
    chmodSync(join(place, 'narrow'), 0o711)
    for (const folder of ['closed', 'narrow']) writeFileSync(join(place, folder, 'secret'), 'planted', { mode: 0o644 })
  })
  afterAll(async () => {
    await engine.close()
    rmSync(place, { recursive: true, force: true })
    world.dispose()
  })

  async function run(target: string, command: string): Promise<string> {
    const sandbox = world.service('srv-one')
    const source = join(world.dir, 'disk')
    mkdirSync(source, { recursive: true })
    chownSync(source, sandbox.uid, sandbox.gid)
    const task = world.task(`{ ${command}; } 2>&1`, { sandbox: { ...sandbox, disk: { source, isImage: false, target } } })
    await runToEnd(engine, task)
    return world.output(task)
  }

  test('is refused, and opens nothing', async () => {
    await expect(run(join(place, 'closed', 'data'), `cat ${place}/closed/secret`)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('may not enter'),
    })
  })

  test('is refused when it is asked for', async () => {
    const platform = await startPlatform()
    try {
      const serviceId = await createService(platform, { name: 'with-disk', type: 'background_worker' })
      const body = { serviceId, name: 'data', mountPath: join(place, 'closed', 'data'), sizeGB: 1 }
      const answer = await call(`${platform.url}/v1/disks`, { method: 'POST', token: platform.adminToken, json: body })
      expect(answer.status).toBe(400)
      expect(JSON.stringify(answer.body)).toContain(`Services may not enter ${join(place, 'closed')}`)
    } finally {
      await platform.close()
    }
  })

  test('leaves owner and mode of what it covers as they are', async () => {
    const output = await run(
      join(place, 'narrow', 'data'),
      `stat -c '%a %u' ${place}/narrow; ls ${place}/narrow; touch ${place}/narrow/data/new && echo written`,
    )
    expect(output).toMatch(/^711 0\n.*Permission denied\nwritten\n$/s)
  })
})
