import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { placeDisk } from '../../../server/engines/process/disk-mount.ts'
import { diskGuaranteesOf, volumeMountsOf } from '../../../server/engines/process/disk-support.ts'
import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import { planMounts } from '../../../server/engines/process/mount-plan.ts'
import type { DiskMount, ProcessEngine } from '../../../server/engines/process/spec.ts'
import { runProcess } from '../../../server/platform/process/spawn.ts'
import { makeWorld, runToEnd, type World } from './support/world.ts'

const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
const name = `cpd-test-disk-${process.pid}`
/** Folders that the machine lacks, with and without one above them that it has. */
const missing = [`/srv/${name}/deep/data`, `/var/${name}`, `/mnt/${name}`]

let world: World
let engine: ProcessEngine

beforeAll(async () => {
  world = makeWorld()
  engine = await createProcessEngine({ stateDir: world.stateDir, label: name, hiddenDirs: [join(world.dir, 'disks')] })
})

afterAll(async () => {
  await engine.close()
  world.dispose()
})

function makeFolder(id: string): string {
  const { uid } = world.service('srv-one')
  const disks = join(world.dir, 'disks')
  mkdirSync(disks, { recursive: true, mode: 0o700 })
  const folder = join(disks, id)
  mkdirSync(folder, { mode: 0o700 })
  chownSync(folder, uid, uid)
  return folder
}

async function makeImage(id: string): Promise<string> {
  const folder = makeFolder(`${id}-content`)
  mkdirSync(join(folder, 'data'), { mode: 0o700 })
  const { uid } = world.service('srv-one')
  chownSync(join(folder, 'data'), uid, uid)
  const image = join(world.dir, 'disks', id)
  writeFileSync(image, '')
  await runProcess(['truncate', '--size=64M', image], { env })
  const made = await runProcess(['mkfs.ext4', '-q', '-F', '-m', '0', '-d', folder, image], { env })
  expect(made.exitCode).toBe(0)
  return image
}

async function runWith(disk: DiskMount, command: string): Promise<{ exitCode: number | null; output: string }> {
  const task = world.task(command, { sandbox: { ...world.service('srv-one'), disk } })
  const { exitCode } = await runToEnd(engine, task)
  return { exitCode, output: world.output(task) }
}

const loopDevicesOf = async (image: string): Promise<string> =>
  (await runProcess(['losetup', '--noheadings', '--output', 'NAME', '--associated', image], { env })).stdout.trim()

describe.each(missing)('a disk at %s, which the machine lacks', (target) => {
  test('is there for the workload and leaves the machine as it was', async () => {
    const source = makeFolder(target.replaceAll('/', '_'))
    const first = await runWith({ source, isImage: false, target }, `echo kept >${target}/file && stat -c '%u %a' ${target}`)
    expect(first).toEqual({ exitCode: 0, output: `${world.service('srv-one').uid} 700\n` })
    expect(readFileSync(join(source, 'file'), 'utf8')).toBe('kept\n')
    const again = await runWith({ source, isImage: false, target }, `cat ${target}/file; touch ${target}-beside`)
    expect(again.output).toContain('kept\n')
    expect(again.exitCode).not.toBe(0)
    expect(existsSync(target)).toBe(false)
    expect(existsSync(`/srv/${name}`)).toBe(false)
  })
})

test('what stands beside the path stays to be seen, the own writable folders too', async () => {
  const source = makeFolder('beside')
  const { exitCode } = await runWith(
    { source, isImage: false, target: `/var/${name}` },
    'ls /var/lib/dpkg && touch /tmp/a /var/tmp/b "$PWD/c"',
  )
  expect(exitCode).toBe(0)
})

test('below /tmp the path is made in the own /tmp', async () => {
  const source = makeFolder('tmp')
  const target = `/tmp/${name}/data`
  expect((await runWith({ source, isImage: false, target }, `touch ${target}/a`)).exitCode).toBe(0)
  expect(existsSync(join(source, 'a'))).toBe(true)
  expect(existsSync(`/tmp/${name}`)).toBe(false)
})

test('over a folder that the machine has, the disk alone is seen', async () => {
  const source = makeFolder('over')
  const { exitCode, output } = await runWith({ source, isImage: false, target: '/mnt' }, 'touch /mnt/new && ls -A /mnt')
  expect({ exitCode, output }).toEqual({ exitCode: 0, output: 'new\n' })
  expect(existsSync('/mnt/new')).toBe(false)
})

test('an image is mounted for the workload alone, is full at its size, and is free again when the workload has ended', async () => {
  const source = await makeImage('image')
  const target = `/srv/${name}/image`
  const disk = { source, isImage: true, target }
  const filled = await runWith(disk, `echo kept >${target}/file; dd if=/dev/zero of=${target}/big bs=1M; ls -A ${target}`)
  expect(filled.output).toContain('No space left on device')
  expect(filled.output.trim().split('\n').slice(-2)).toEqual(['big', 'file'])
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(target)
  expect((await runWith(disk, `cat ${target}/file`)).output).toBe('kept\n')
  expect(await loopDevicesOf(source)).toBe('')
  expect((await runProcess(['e2fsck', '-f', '-n', source], { env })).exitCode).toBe(0)
})

test('nobody else sees what disks are kept in', async () => {
  const source = makeFolder('secret')
  chmodSync(source, 0o777)
  chmodSync(join(world.dir, 'disks'), 0o755)
  writeFileSync(join(source, 'file'), 'secret', { mode: 0o644 })
  const task = world.task(`cat ${source}/file`, { sandbox: world.service('srv-two') })
  const { exitCode } = await runToEnd(engine, task)
  expect(exitCode).not.toBe(0)
  expect(statSync(source).mode & 0o777).toBe(0o777)
})

test('a path that leads elsewhere, or of which the machine has no folder, is refused', () => {
  const disk = (target: string) => ({ source: '/x', isImage: false, target })
  expect(() => placeDisk(disk('/var/run/app'), undefined)).toThrow('leads elsewhere')
  expect(() => placeDisk(disk('/etc/hostname/x'), undefined)).toThrow('is no folder')
  expect(() => placeDisk(disk(`/${name}/data`), undefined)).toThrow('no folder above it')
  expect(placeDisk(disk('/srv'), undefined)).toMatchObject({ overlaidDir: undefined })
})

test('the disk is put aside first and comes last', () => {
  const disk = { source: '/data/disks/a', isImage: false, target: '/var/x/y', overlaidDir: '/var', overlaidAs: 'mode=755' }
  const mounts = planMounts({
    tmpDir: '/var/t',
    needed: [{ path: '/var/home', isReadOnly: false }],
    closedDirs: [],
    hiddenDirs: ['/var/db'],
    disk,
  })
  expect(mounts.map(({ source, target }) => `${source} ${target}`)).toEqual([
    'aside /dev/shm',
    '/var/t /dev/shm/0',
    '/var/home /dev/shm/1',
    '/data/disks/a /dev/shm/disk',
    'skeleton /dev/shm/skeleton',
    'skeleton /dev/shm/skeleton/x/y',
    'overlay /var',
    '/dev/shm/0 /tmp',
    '/dev/shm/0 /var/tmp',
    '/dev/shm/1 /var/home',
    'empty /var/db',
    '/dev/shm/disk /var/x/y',
    'shm /dev/shm',
    'own /proc',
  ])
})

test('what cannot be promised of disks is told with the reason', () => {
  const none = { reason: 'no namespaces' }
  expect(volumeMountsOf({ isRoot: true, namespaces: none })).toBe('nowhere')
  expect(volumeMountsOf({ isRoot: false, namespaces: 'user' })).toBe('folders')
  expect(volumeMountsOf({ isRoot: true, namespaces: 'machine' })).toBe('images')
  expect(diskGuaranteesOf({ isRoot: false, namespaces: 'user' })).toMatchObject([
    { id: 'disk-path', holds: true },
    { id: 'disk-size', holds: false, reason: expect.stringContaining('run it as root') },
  ])
  expect(diskGuaranteesOf({ isRoot: true, namespaces: none }).map(({ reason }) => reason)).toEqual(['no namespaces', 'no namespaces'])
})
