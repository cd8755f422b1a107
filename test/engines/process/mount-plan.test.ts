import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { closedDirsAbove } from '../../../server/engines/process/closed-dirs.ts'
import { type FileSystemView, isWithin, planMounts, renderFstab } from '../../../server/engines/process/mount-plan.ts'

const view: FileSystemView = { tmpDir: '/data/srv/tmp', needed: [], closedDirs: [], hiddenDirs: [] }
const steps = (changes: Partial<FileSystemView>) =>
  planMounts({ ...view, ...changes }).map(({ source, target, options }) => `${source} ${target}${options.includes(',ro,') ? ' ro' : ''}`)

test('/tmp, /dev/shm and /proc are always private', () => {
  expect(steps({})).toEqual([
    'aside /dev/shm',
    '/data/srv/tmp /dev/shm/0',
    '/dev/shm/0 /tmp',
    '/dev/shm/0 /var/tmp',
    'shm /dev/shm',
    'own /proc',
  ])
})

test('folders that can be reached are left where they are, or made read-only in place', () => {
  const needed = [
    { path: '/data/srv/release', isReadOnly: false },
    { path: '/opt/tool', isReadOnly: true },
  ]
  const made = steps({ needed })
  expect(made.filter((step) => step.includes('release'))).toEqual([])
  expect(made).toContain('/opt/tool /opt/tool ro')
})

test('a closed home is covered, and what is needed in it comes back', () => {
  const made = steps({
    needed: [
      { path: '/root/.rustup', isReadOnly: true },
      { path: '/root/data/srv/release', isReadOnly: false },
    ],
    closedDirs: ['/root'],
    tmpDir: '/root/data/srv/tmp',
  })
  const order = [
    '/root/.rustup /dev/shm/1',
    'empty /root',
    '/dev/shm/0 /tmp',
    '/dev/shm/1 /root/.rustup ro',
    '/dev/shm/2 /root/data/srv/release',
    'shm /dev/shm',
  ]
  expect(made.filter((step) => order.includes(step))).toHaveLength(order.length)
  expect(made.indexOf('empty /root')).toBeGreaterThan(made.indexOf('/root/.rustup /dev/shm/1'))
  expect(made.indexOf('/dev/shm/1 /root/.rustup ro')).toBeGreaterThan(made.indexOf('empty /root'))
})

test('a folder below another needed one is not bound twice', () => {
  const needed = [
    { path: '/tmp/srv/release/sub', isReadOnly: false },
    { path: '/tmp/srv/release', isReadOnly: false },
  ]
  expect(steps({ needed }).filter((step) => step.includes('release'))).toEqual([
    '/tmp/srv/release /dev/shm/1',
    '/dev/shm/1 /tmp/srv/release',
  ])
})

test('hidden folders are emptied unless they are covered already', () => {
  const made = steps({ hiddenDirs: ['/data/db', '/data/db/sub', '/tmp/run'] })
  expect(made.filter((step) => step.startsWith('empty'))).toEqual(['empty /data/db'])
})

test('the table escapes what would end a field', () => {
  const [first] = renderFstab([{ source: '/a b\tc\nd\\e', target: '/x#y', type: 'none', options: 'bind' }]).split('\n')
  expect(first).toBe('/a\\040b\\011c\\012d\\134e /x\\043y none bind 0 0')
})

test('a folder is within itself and its parents, not within its namesakes', () => {
  expect(isWithin('/a/b', '/a')).toBe(true)
  expect(isWithin('/a', '/a')).toBe(true)
  expect(isWithin('/a', '/')).toBe(true)
  expect(isWithin('/ab', '/a')).toBe(false)
})

test('the outermost closed folder above a path is found for each user', () => {
  const dir = mkdtempSync(join(tmpdir(), 'closed-'))
  const closed = join(dir, 'home')
  const path = join(closed, 'a/tool')
  mkdirSync(path, { recursive: true })
  chmodSync(dir, 0o711)
  chmodSync(closed, 0o700)
  chmodSync(join(closed, 'a'), 0o700)
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  expect(closedDirsAbove([path, closed], { uid: 61_000, gid: 61_000 })).toEqual([closed])
  expect(closedDirsAbove([path], { uid, gid })).toEqual([])
  chmodSync(closed, 0o710)
  expect(closedDirsAbove([path], { uid: 61_000, gid })).toEqual([join(closed, 'a')])
  rmSync(dir, { recursive: true })
})
