import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyContent } from '../../../../server/engines/process/volumes/copy.ts'
import type { ProcessVolumes } from '../../../../server/engines/process/volumes/volumes.ts'
import { makeVolumesWorld, UID } from './world.ts'

const NEVER = new AbortController().signal

const world = makeVolumesWorld('folder')
let volumes: ProcessVolumes
beforeAll(async () => {
  volumes = await world.open()
})
afterAll(() => world.dispose())

const make = () => world.make(volumes)

const text = (path: string) => readFileSync(join(path, 'file'), 'utf8')

test.runIf(process.getuid?.() === 0)("a folder is its service's alone, who can pass through to it and list nothing above", async () => {
  const { places } = await make()
  const modes = [places.root, places.folder, places.snapshots].map((path) => {
    const { mode, uid, gid } = statSync(path)
    return [mode & 0o777, uid, gid]
  })
  expect(modes).toEqual([
    [0o710, 0, UID],
    [0o700, UID, UID],
    [0o700, 0, 0],
  ])
})

test('a folder that was begun and not finished is made anew, one that is there is left alone', async () => {
  const volume = world.newVolume()
  const { root, folder } = world.placesOf(volume.id)
  mkdirSync(`${folder}.new`, { recursive: true })
  await volumes.make(volume)
  writeFileSync(join(folder, 'kept'), '')
  await volumes.make(volume)
  expect(readdirSync(root).sort()).toEqual(['data', 'mount', 'snapshots'])
  expect(readdirSync(folder)).toEqual(['kept'])
})

test('a folder is restored in steps, each of which can be the last before a crash', async () => {
  const { id, places } = await make()
  const { root, folder, snapshots } = places
  const restore = { key: 'snp-old', keepAs: 'snp-before', sizeGb: 1 }
  writeFileSync(join(folder, 'file'), 'old')
  await volumes.snapshot(id, restore.key, NEVER)
  writeFileSync(join(folder, 'file'), 'now')
  // Killed while the copy was made.
  mkdirSync(`${folder}.ready.new`)
  await volumes.restore(id, restore)
  expect([text(folder), text(join(snapshots, restore.keepAs))]).toEqual(['old', 'now'])
  // Killed before it was written down that it is done.
  writeFileSync(join(folder, 'file'), 'later')
  await volumes.restore(id, restore)
  expect([text(folder), text(join(snapshots, restore.keepAs))]).toEqual(['later', 'now'])
  expect(readdirSync(root).sort()).toEqual(['data', 'mount', 'snapshots'])
})

test('a folder is copied with what it leads to left alone', async () => {
  const { id, places } = await make()
  symlinkSync('/etc/shadow', join(places.folder, 'link'))
  await volumes.snapshot(id, 'snp-a', NEVER)
  expect(statSync(join(places.snapshots, 'snp-a')).isDirectory()).toBe(true)
  const missing = { from: join(places.folder, 'missing'), to: join(places.snapshots, 'snp-b'), isImage: false }
  await expect(copyContent(missing)).rejects.toThrow('could not be opened')
  expect(readdirSync(places.snapshots)).toEqual(['snp-a'])
})

test.runIf(process.getuid?.() === 0)(
  "a folder is copied with its owner's rights: all that is the owner's, and nothing that is another's",
  async () => {
    const { id, places } = await make()
    const { folder, snapshots } = places
    const closed = join(folder, 'closed')
    mkdirSync(closed)
    writeFileSync(join(closed, 'file'), 'mine')
    for (const [path, mode] of [
      [join(closed, 'file'), 0],
      [closed, 0],
    ] as const) {
      chownSync(path, UID, UID)
      chmodSync(path, mode)
    }
    await volumes.snapshot(id, 'snp-a', NEVER)
    expect(readFileSync(join(snapshots, 'snp-a/closed/file'), 'utf8')).toBe('mine')
    const copied = ['', 'closed', 'closed/file'].map((path) => statSync(join(snapshots, 'snp-a', path)))
    expect(copied.map(({ uid, gid, mode }) => [uid, gid, mode & 0o777])).toEqual([
      [UID, UID, 0o700],
      [UID, UID, 0],
      [UID, UID, 0],
    ])
    writeFileSync(join(folder, 'of-root'), 'secret', { mode: 0o600 })
    await expect(volumes.snapshot(id, 'snp-b', NEVER)).rejects.toThrow('Permission denied')
    expect(readdirSync(snapshots)).toEqual(['snp-a'])
  },
)

test.runIf(process.getuid?.() === 0)(
  'a folder that is given away belongs to the new owner, and what its links lead to does not',
  async () => {
    const { id, places } = await make()
    const outside = join(places.root, 'outside')
    writeFileSync(outside, '')
    writeFileSync(join(places.folder, 'file'), '')
    symlinkSync(outside, join(places.folder, 'link'))
    await volumes.give(id, { id: 'srv-two', number: UID + 1 })
    expect([places.folder, join(places.folder, 'file'), outside].map((path) => statSync(path).uid)).toEqual([UID + 1, UID + 1, 0])
    expect(statSync(places.root).gid).toBe(UID + 1)
  },
)

test('folders that are no volumes, such as lost+found, are not listed', async () => {
  const { id, places } = await make()
  mkdirSync(join(places.root, '../lost+found'), { recursive: true })
  const listed = await volumes.list()
  expect(listed).toContain(id)
  expect(listed).not.toContain('lost+found')
})
