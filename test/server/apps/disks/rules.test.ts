import { describe, expect, test } from 'vitest'
import { mountPathProblem, sizeProblem } from '../../../../server/apps/disks/rules.ts'
import { bytesOf } from '../../../../shared/disk.ts'

describe('a mount path', () => {
  test.each(['/var/data', '/data', '/srv/a/b', '/mnt/disk-1', '/opt/app.d/data', '/home/app', '/var/lib/postgresql', '/var/opt/x'])(
    'may be %s',
    (path) => {
      expect(mountPathProblem(path)).toBeUndefined()
    },
  )

  test.each<[path: string, words: string]>([
    ['var/data', 'must be absolute'],
    ['', 'must be absolute'],
    ['/', 'whole file system'],
    ['/var/../etc', 'clean'],
    ['/var/data/..', 'clean'],
    ['/var/./data', 'clean'],
    ['/var//data', 'clean'],
    ['/var/data/', 'clean'],
    ['/var/da ta', 'letters'],
    ['/var/da\nta', 'letters'],
    ['/var/\u0000', 'letters'],
    ['/var/a:b', 'letters'],
    ['/var/a,b', 'letters'],
    ['/var/ünder', 'letters'],
    ...[
      '/etc',
      '/etc/nginx',
      '/usr',
      '/usr/local/app',
      '/bin',
      '/sbin/x',
      '/lib',
      '/lib64',
      '/proc/self',
      '/sys',
      '/dev/shm',
      '/run/x',
      '/boot',
      '/root/data',
    ].map((path): [string, string] => [path, 'belongs to the system']),
    ['/var/run/app', 'belongs to the system'],
    ['/tmp/data', 'need not last'],
    ['/var/tmp', 'need not last'],
    ...['/var', '/home', '/opt', '/srv', '/mnt', '/var/lib', '/var/log'].map((path): [string, string] => [path, 'folders of the machine']),
  ])('cannot be %j: %s', (path, words) => {
    expect(mountPathProblem(path)).toContain(words)
  })
})

describe('a size', () => {
  test('may be all that is free, and grow by as much', () => {
    expect(sizeProblem(10, { given: 0, freeBytes: bytesOf(10) })).toBeUndefined()
    expect(sizeProblem(15, { given: 10, freeBytes: bytesOf(5) })).toBeUndefined()
  })
  test('cannot be more, and the message tells how much there is', () => {
    expect(sizeProblem(11, { given: 0, freeBytes: bytesOf(10.5) })).toContain('at most 10 GB')
    expect(sizeProblem(16, { given: 10, freeBytes: bytesOf(5) })).toContain('at most 15 GB')
    expect(sizeProblem(1, { given: 0, freeBytes: -5 })).toBe('There is no room for 1 GB on the server. Free some space, or ask for less.')
  })
  test('cannot be less than there is', () => {
    expect(sizeProblem(9, { given: 10, freeBytes: bytesOf(100) })).toContain('cannot shrink: it has 10 GB')
  })
})
