import { afterEach, expect, test } from 'vitest'
import { describePlan } from '../../cli/commands/rollback.ts'
import { parseDisk } from '../../cli/options/disk.ts'
import type { Disk, DiskSnapshot } from '../../shared/disk.ts'
import { exampleService, pageOf, serviceId } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions } from './terminal.ts'

let server: FakeServer
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
})

const diskId = 'dsk-0b1c2d3e4f5g6h7i8j9k'
const disk = (fields: Partial<Disk> = {}): Disk => ({
  id: diskId,
  name: 'data',
  sizeGB: 10,
  mountPath: '/var/data',
  serviceId,
  status: 'available',
  createdAt: '2026-02-01T11:00:00.000Z',
  updatedAt: '2026-02-01T11:00:00.000Z',
  ...fields,
})
const snapshot = (fields: Partial<DiskSnapshot> = {}): DiskSnapshot => ({
  createdAt: '2026-02-01T11:00:00.000Z',
  snapshotKey: 'snp-0b1c2d3e4f5g6h7i8j9k',
  status: 'available',
  origin: 'manual',
  sizeBytes: 5 * 1024 * 1024,
  expiresAt: '2026-02-08T11:00:00.000Z',
  ...fields,
})

function serving(answers: Answers) {
  server = startFakeServer({
    listServices: () => pageOf('service', [exampleService()]),
    listDisks: () => pageOf('disk', [disk()]),
    ...answers,
  })
  return (argv: string[], options: TerminalOptions = {}) =>
    cpctl(argv, { ...options, env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' } })
}

test('list shows the disks, and which are kept of deleted services', async () => {
  const kept = disk({
    id: 'dsk-1b1c2d3e4f5g6h7i8j9k',
    name: 'old',
    deletedAt: '2026-01-31T11:00:00.000Z',
    expiresAt: '2026-02-07T11:00:00.000Z',
  })
  const run = serving({ listDisks: () => pageOf('disk', [disk(), kept]) })
  const { stdout } = await run(['disks', 'list'], { columns: 160 })
  expect(stdout).toContain('data  dsk-0b1c2d3e4f5g6h7i8j9k')
  expect(stdout).toMatch(/old .*\(deleted\).*kept until 2026-02-07/)
})

test('create gives a service a disk, and says what that changes', async () => {
  const run = serving({ createDisk: () => disk({ status: 'creating' }) })
  const { exitCode, stdout, stderr } = await run(['disks', 'create', 'web', 'data:/var/data:10'])
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: 'web has the disk data of 10 GB, mounted at /var/data from its next start on.\n',
  })
  expect(stderr).toContain('cpctl services restart web')
  expect(stderr).toContain('stop-first')
  expect(server.received.at(-1)?.body).toEqual({ serviceId, name: 'data', mountPath: '/var/data', sizeGB: 10 })
})

test('services create takes a disk along', async () => {
  const run = serving({ createService: () => ({ service: exampleService() }) })
  expect((await run(['services', 'create', 'web', '--disk', 'data:/var/data:5', '--plan', 'starter'])).exitCode).toBe(0)
  const serviceDetails = { plan: 'starter', disk: { name: 'data', mountPath: '/var/data', sizeGB: 5 } }
  expect(server.received.at(-1)?.body).toEqual({ type: 'web_service', name: 'web', serviceDetails })
})

test('a disk is written as name, path and size, ten GB where none is given', () => {
  serving({})
  expect(parseDisk('data:/var/data')).toEqual({ name: 'data', mountPath: '/var/data', sizeGB: 10 })
  for (const wrong of ['data', 'data:var', ':/var/data', 'data:/var/data:big', 'data:/a:1:2'])
    expect(() => parseDisk(wrong)).toThrow('is no disk')
})

test('resize waits until it is done', async () => {
  let asked = 0
  const run = serving({
    updateDisk: () => disk({ sizeGB: 20, status: 'resizing' }),
    getDisk: () => disk({ sizeGB: 20, status: asked++ > 1 ? 'available' : 'resizing' }),
  })
  expect(await run(['disks', 'resize', 'data', '20'])).toMatchObject({ exitCode: 0, stdout: 'data has 20 GB now.\n' })
  expect(asked).toBe(3)
})

test('resize fails when the server could not', async () => {
  const run = serving({ updateDisk: () => disk({ sizeGB: 20, status: 'resizing' }), getDisk: () => disk() })
  expect(await run(['disks', 'resize', 'data', '20'])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('data did not grow') })
})

test('update moves a disk, or gives it to another service', async () => {
  const run = serving({ updateDisk: () => disk() })
  expect((await run(['disks', 'update', 'data', '--path', '/srv/data', '--service', 'web'])).exitCode).toBe(0)
  expect(server.received.at(-1)?.body).toEqual({ mountPath: '/srv/data', serviceId })
  expect((await run(['disks', 'update', 'data'])).exitCode).toBe(2)
})

test('delete has the name typed', async () => {
  const run = serving({ deleteDisk: () => undefined })
  expect((await run(['disks', 'delete', 'data'], { typed: ['other'] })).exitCode).toBe(2)
  expect(await run(['disks', 'delete', 'data'], { typed: ['data'] })).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Deleted data.'),
  })
  expect((await run(['disks', 'delete', 'web', '--yes'])).exitCode).toBe(0)
})

test('a disk is found by its name, its id and its service, and not guessed among several', async () => {
  const twin = disk({ id: 'dsk-1b1c2d3e4f5g6h7i8j9k', serviceId: 'srv-1b1c2d3e4f5g6h7i8j9k' })
  const run = serving({ listDisks: () => pageOf('disk', [disk(), twin]), getDisk: () => twin })
  expect((await run(['disks', 'get', 'data'])).stderr).toContain('There are 2 disks named data.')
  expect((await run(['disks', 'get', 'web'])).stdout).toContain(diskId)
  expect((await run(['disks', 'get', twin.id])).stdout).toContain(twin.id)
  expect(await run(['disks', 'get', 'nothing'])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('There is no disk nothing.'),
  })
})

test('snapshots are listed, taken, restored and deleted', async () => {
  const before = snapshot({ snapshotKey: 'snp-1b1c2d3e4f5g6h7i8j9k', origin: 'before_restore' })
  let list = [snapshot()]
  const run = serving({
    listDiskSnapshots: () => list,
    createDiskSnapshot: () => snapshot({ status: 'creating' }),
    restoreDiskSnapshot: () => disk({ status: 'restoring' }),
    deleteDiskSnapshot: () => undefined,
    getDisk: () => disk(),
  })
  expect((await run(['disks', 'snapshots', 'data'])).stdout).toMatch(/snp-0b1c2d3e4f5g6h7i8j9k {2}1h ago {2}manual {2}5\.0 MB {2}available/)
  expect(await run(['disks', 'snapshot', 'data'])).toMatchObject({ exitCode: 0, stdout: 'Took snp-0b1c2d3e4f5g6h7i8j9k of data.\n' })
  expect((await run(['disks', 'restore', 'data', 'snp-0b1c2d3e4f5g6h7i8j9k', '--yes'])).exitCode).toBe(1)
  list = [before, snapshot()]
  const restored = await run(['disks', 'restore', 'data', 'snp-0b1c2d3e4f5g6h7i8j9k'], { typed: ['data'] })
  expect(restored).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`What was on it before is ${before.snapshotKey}.`) })
  expect((await run(['disks', 'delete-snapshot', 'data', before.snapshotKey, '--yes'])).exitCode).toBe(0)
  list = [snapshot({ status: 'failed', reason: 'No room.' })]
  expect(await run(['disks', 'snapshot', 'data'])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('No room.') })
})

test('a rollback of a service with a disk says that it would be away', () => {
  serving({})
  const nothing = { added: [], removed: [], changed: [] }
  const plan = {
    fromDeployId: 'dep-a',
    toDeployId: 'dep-b',
    code: { changes: false, from: 'a', to: 'a' },
    envVars: nothing,
    secretFiles: nothing,
    settings: [],
  }
  expect(describePlan({ ...plan, strategy: 'stop_first' })).toHaveLength(2)
  expect(describePlan({ ...plan, strategy: 'rolling' })).toHaveLength(1)
})
