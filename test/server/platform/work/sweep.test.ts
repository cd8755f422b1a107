import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { pruneReleases } from '../../../../server/apps/deploys/prune.ts'
import { insertDeploy } from '../../../../server/apps/deploys/store.ts'
import { serviceById } from '../../../../server/apps/services/store.ts'
import { recover } from '../../../../server/boot/serve/recover.ts'
import { sweepFolders } from '../../../../server/boot/serve/sweep-folders.ts'
import { keepWorkloads } from '../../../../server/boot/serve/workloads.ts'
import type { Outputs } from '../../../../server/engines/port/output.ts'
import { outputsIn } from '../../../../server/engines/process/placing/outputs.ts'
import { newId, newInstanceId } from '../../../../server/platform/id.ts'
import { servicePathsOf } from '../../../../server/platform/paths.ts'
import { ensureServiceFolders } from '../../../../server/platform/service-folders.ts'
import { createService } from '../../../support/apps.ts'
import { idleEngine } from '../../../support/idle-parts.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

/** Outputs in files of this machine, as those of its engine are. */
const output: Outputs = {
  open: (name) => outputsIn(server.context.paths).open(name),
  list: (id) => outputsIn(server.context.paths).list(id),
}

let server: TestServer
let serviceId: string
beforeEach(async () => {
  server = await startTestServer({ parts: { engine: { ...idleEngine, output } } })
  serviceId = await createService(server, { name: 'web' })
  const service = serviceById(server.db, serviceId)
  if (service !== undefined) await ensureServiceFolders(server.context.paths, service)
})
afterEach(() => server.close())

const own = () => servicePathsOf(server.context.paths, serviceId)
const lay = (...path: string[]) => {
  mkdirSync(join(...path, 'inner'), { recursive: true })
  writeFileSync(join(...path, 'inner/file'), 'x')
}
function queueDeploy(sourceId: string): string {
  const id = newId('deploy')
  const now = Date.now()
  insertDeploy(server.db, {
    id,
    serviceId,
    trigger: 'api',
    sourceId,
    releaseId: null,
    rollbackOf: null,
    isCacheCleared: false,
    createdAt: now,
  })
  return id
}

describe('a sweep at the start', () => {
  test('removes the folder of a service that is gone, and nothing that is not a service’s', async () => {
    const { services } = server.context.paths
    const gone = newId('service')
    lay(services, gone)
    lay(services, 'lost+found')
    await sweepFolders(server.context)
    expect(readdirSync(services).sort()).toEqual(['lost+found', serviceId])
  })

  test('removes output of instances that are gone', async () => {
    writeFileSync(join(own().output, `${newInstanceId(serviceId)}.log`), 'words\n')
    await sweepFolders(server.context)
    expect(readdirSync(own().output)).toEqual([])
  })

  test('removes what uploads left in the middle', async () => {
    const { uploads } = server.context.paths
    lay(uploads, 'incoming-folder')
    writeFileSync(join(uploads, 'incoming-file'), 'half')
    for (const name of readdirSync(uploads)) utimesSync(join(uploads, name), 0, 0)
    await recover(
      server.context,
      keepWorkloads(server.context, () => server.context),
    )
    expect(readdirSync(uploads)).toEqual([])
  })
})

describe('a prune', () => {
  test('removes builds, releases, secrets and sources that nothing points to', async () => {
    for (const folder of [own().builds, own().releases, own().secrets]) lay(folder, 'left-over')
    writeFileSync(join(own().sources, `${newId('source')}.tar.gz`), 'x')
    lay(own().trash, 'of a prune that was cut off')
    await pruneReleases(server.context, serviceId)
    for (const folder of [own().builds, own().releases, own().secrets, own().sources, own().trash]) expect(readdirSync(folder)).toEqual([])
  })

  test('leaves what a deploy on its way works with, and built files that it may find again', async () => {
    const sourceId = newId('source')
    const deployId = queueDeploy(sourceId)
    for (const name of [deployId, sourceId, 'left-over']) lay(own().builds, name)
    lay(own().releases, 'same-files')
    await pruneReleases(server.context, serviceId)
    expect(readdirSync(own().builds).sort()).toEqual([deployId, sourceId].sort())
    expect(readdirSync(own().releases)).toEqual(['same-files'])
  })

  test('has moved everything aside before it first waits, so a deploy that begins meanwhile loses nothing', async () => {
    for (let i = 0; i < 50; i++) lay(own().builds, `left-over${i}`)
    const pruning = pruneReleases(server.context, serviceId)
    expect(readdirSync(own().builds)).toEqual([])
    const deployId = queueDeploy(newId('source'))
    lay(own().builds, deployId)
    await pruning
    expect(existsSync(join(own().builds, deployId, 'inner/file'))).toBe(true)
    expect(readdirSync(own().trash)).toEqual([])
  })
})
