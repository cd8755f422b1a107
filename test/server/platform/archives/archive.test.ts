import { lstat, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ArchiveFormat, extractArchive } from '../../../../server/platform/archives/archive.ts'
import { DEFAULT_EXTRACT_LIMITS, type ExtractLimits } from '../../../../server/platform/archives/rules.ts'
import { hashTree } from '../../../../server/runtime/artifacts/content-hash.ts'
import { AppError } from '../../../../shared/error.ts'
import { type TarEntry, tar, tarGz, type ZipEntry, zip } from '../../../support/archives.ts'

let box: string
beforeEach(async () => {
  box = await mkdtemp(join(tmpdir(), 'extract-'))
})
afterEach(() => rm(box, { recursive: true, force: true }))

async function unpack(format: ArchiveFormat, bytes: Uint8Array, limits: Partial<ExtractLimits> = {}) {
  const path = join(box, 'archive')
  await writeFile(path, bytes)
  return extractArchive({ path, format, into: join(box, 'tree'), limits: { ...DEFAULT_EXTRACT_LIMITS, ...limits } })
}

async function refusal(format: ArchiveFormat, bytes: Uint8Array, limits: Partial<ExtractLimits> = {}): Promise<string> {
  const error = await unpack(format, bytes, limits).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(AppError)
  expect((error as AppError).code).toBe('bad_request')
  expect((await readdir(box)).filter((name) => name !== 'archive')).toEqual([])
  return (error as AppError).message
}

const file = (name: string, content = 'x'): TarEntry => ({ name, content })
const symlink = (name: string, linkname: string): TarEntry => ({ name, linkname, type: 'symlink' })
const hardLink = (name: string, linkname: string): TarEntry => ({ name, linkname, type: 'link' })

describe('a tar.gz', () => {
  test('is unpacked with folders, links and normalised modes', async () => {
    const result = await unpack(
      'tar.gz',
      await tarGz([
        { name: './', type: 'directory' },
        { name: 'bin', type: 'directory', mode: 0o2700 },
        { ...file('bin/run', '#!/bin/sh\n'), mode: 0o700 },
        { ...file('deep/er/a.txt', 'hello'), mode: 0o600 },
        symlink('node_modules/.bin/run', '../../bin/run'),
        symlink('dangling', 'made/by/the/build'),
        hardLink('copy.txt', './deep/er/a.txt'),
        file(`${'n'.repeat(120)}/é.txt`),
        { name: 'empty', content: '' },
      ]),
    )
    const tree = join(box, 'tree')
    expect(await readFile(join(tree, 'deep/er/a.txt'), 'utf8')).toBe('hello')
    expect(await readFile(join(tree, 'copy.txt'), 'utf8')).toBe('hello')
    expect(await readFile(join(tree, 'node_modules/.bin/run'), 'utf8')).toBe('#!/bin/sh\n')
    expect(await readlink(join(tree, 'dangling'))).toBe('made/by/the/build')
    expect((await lstat(join(tree, 'bin/run'))).mode & 0o7777).toBe(0o755)
    expect((await lstat(join(tree, 'deep/er/a.txt'))).mode & 0o7777).toBe(0o644)
    expect((await lstat(join(tree, 'bin'))).mode & 0o7777).toBe(0o755)
    expect(result).toMatchObject({ fileCount: 7, totalBytes: 10 + 5 + 5 + 1 })
  })

  const refused: [string, TarEntry[], string][] = [
    ['an absolute path', [file('/etc/cron.d/x')], 'absolute path'],
    ['a path that climbs', [file('a/../../x')], 'climbs'],
    ['a folder that climbs', [{ name: '../x/', type: 'directory' }], 'climbs'],
    ['a backslash', [file('a\\..\\x')], 'backslash'],
    ['a drive letter', [file('C:/x')], 'absolute path'],
    ['a NUL through an extended header', [{ ...file('ok'), pax: { path: 'a\0b' } }], 'control character'],
    ['a newline', [file('a\nb')], 'control character'],
    ['a file name that is too long', [file('n'.repeat(256))], '255 bytes'],
    ['a path that is too long', [file(Array.from({ length: 600 }, () => 'nn').join('/'))], 'longer than 1024'],
    ['a path that is too deep', [file(Array.from({ length: 70 }, () => 'n').join('/'))], 'deeper than 64'],
    ['a link to an absolute path', [symlink('x', '/etc')], 'absolute path'],
    ['a link that climbs', [symlink('a/x', '../../etc')], 'leaves the archive'],
    ['a link that leaves and comes back', [symlink('a', '../tree/b'), file('b')], 'leaves the archive'],
    [
      'a chain of links that climbs only together',
      [symlink('a/b/up', '..'), symlink('a/out', 'b/up/../..'), symlink('c', 'a/out/../x')],
      'leaves the archive',
    ],
    ['a link that leaves only by way of a later link', [symlink('x', 'later/../y'), symlink('later', '.')], 'leaves the archive'],
    ['a link that climbs out of a folder that is not there', [symlink('x', 'missing/../../y')], 'leaves the archive'],
    ['links in a circle', [symlink('a', 'b'), symlink('b', 'a')], 'circle'],
    ['a file written through a link', [symlink('a', 'b'), file('b/x'), file('a/y')], 'also a link'],
    ['a link made over a written folder', [file('a/y'), symlink('a', '/tmp')], 'twice'],
    ['a folder made over a link', [symlink('a', 'b'), { name: 'a', type: 'directory' }], 'also a link'],
    ['a hard link to an absolute path', [hardLink('x', '/etc/passwd')], 'absolute path'],
    ['a hard link that climbs', [hardLink('x', '../../etc/passwd')], 'climbs'],
    ['a hard link to a symbolic link', [symlink('a', 'b'), hardLink('x', 'a')], 'no earlier file'],
    ['a hard link to nothing', [hardLink('x', 'missing')], 'no earlier file'],
    ['a character device', [{ name: 'null', type: 'character-device', devmajor: 1, devminor: 3 }], 'neither a file'],
    ['a block device', [{ name: 'sda', type: 'block-device', devmajor: 8 }], 'neither a file'],
    ['a fifo', [{ name: 'pipe', type: 'fifo' }], 'neither a file'],
    ['a set-user-id file', [{ ...file('su'), mode: 0o4755 }], 'set-user-id'],
    ['a set-group-id file', [{ ...file('sg'), mode: 0o2755 }], 'set-group-id'],
    ['the same file twice', [file('a'), file('./a')], 'twice'],
    ['a file that is also a folder', [file('a'), file('a/b')], 'also a file'],
    ['a folder that is also a file', [file('a/b'), file('a')], 'twice'],
    ['a sparse file', [{ ...file('a'), pax: { 'GNU.sparse.major': '1' } }], 'sparse'],
    ['nothing at all', [{ name: './', type: 'directory' }], 'empty'],
  ]
  test.each(refused)('with %s is refused and leaves nothing behind', async (_, entries, reason) => {
    expect(await refusal('tar.gz', await tarGz(entries))).toContain(reason)
  })

  test('whose links stay inside by way of other links is unpacked', async () => {
    await unpack(
      'tar.gz',
      await tarGz([symlink('current', 'releases/1'), symlink('app', 'current/../1/app.js'), file('releases/1/app.js', 'js')]),
    )
    expect(await readFile(join(box, 'tree/app'), 'utf8')).toBe('js')
  })

  test('beyond a limit is refused', async () => {
    const three = await tarGz([file('a', 'x'.repeat(2000)), file('b', 'x'.repeat(2000)), file('c', 'x'.repeat(2000))])
    expect(await refusal('tar.gz', three, { maxFiles: 2 })).toContain('more than 2 files')
    expect(await refusal('tar.gz', three, { maxNameBytes: 2 })).toContain('its file names have more than 2 bytes together')
    expect(await refusal('tar.gz', three, { maxBytes: 5999 })).toContain('more than 5999 bytes')
    const copies = await tarGz([file('a', 'x'.repeat(2000)), hardLink('b', 'a'), hardLink('c', 'a')])
    expect(await refusal('tar.gz', copies, { maxBytes: 5999 })).toContain('more than 5999 bytes')
  })

  test('that unpacks to a thousand times its size is refused', async () => {
    const bomb = await tarGz([{ name: 'zeros', content: new Uint8Array(24 * 1024 * 1024) }])
    expect(await refusal('tar.gz', bomb)).toContain('more than 100 times its size')
  })

  test('that is cut off, damaged, followed by something or no tar is refused', async () => {
    const random = crypto.getRandomValues(new Uint8Array(20_000))
    const whole = await tar([{ name: 'a', content: random }, file('b')])
    const packed = gzipSync(whole)
    const flipped = Buffer.from(packed)
    flipped[9000] = (flipped[9000] ?? 0) ^ 0xff
    const broken = {
      'cut inside the gzip': packed.subarray(0, 9000),
      'cut before the checksum': packed.subarray(0, -4),
      damaged: flipped,
      'garbage behind the gzip': Buffer.concat([packed, Buffer.from('garbage')]),
      'garbage behind the tar': gzipSync(Buffer.concat([whole, Buffer.alloc(512, 'g')])),
      'cut inside a file': gzipSync(whole.subarray(0, 8000)),
      'cut between two files': gzipSync(whole.subarray(0, 512 + 20_480)),
      'no tar': gzipSync('hello'),
      'no gzip': Buffer.from('hello'),
      empty: Buffer.alloc(0),
    }
    for (const [name, bytes] of Object.entries(broken)) expect(await refusal('tar.gz', bytes), name).toContain('refused')
  })

  test('names what it refuses without markup, escapes or great length', async () => {
    const message = await refusal('tar.gz', await tarGz([file(`/\u001b[31m\u202e${'x'.repeat(200)}`)]))
    expect(message).not.toMatch(/\p{Cc}|\p{Cf}/u)
    expect(message.length).toBeLessThan(200)
  })

  test('stops when aborted and leaves nothing behind', async () => {
    const path = join(box, 'archive')
    await writeFile(path, await tarGz([file('a')]))
    const reason = new Error('canceled')
    await expect(
      extractArchive({
        path,
        format: 'tar.gz',
        into: join(box, 'tree'),
        limits: DEFAULT_EXTRACT_LIMITS,
        signal: AbortSignal.abort(reason),
      }),
    ).rejects.toBe(reason)
    expect(await readdir(box)).toEqual(['archive'])
  })
})

describe('a zip', () => {
  test('is unpacked with folders, links and modes, and hashes like the same tree in a tar.gz', async () => {
    const result = await unpack(
      'zip',
      zip([
        { name: 'dir/', mode: 0o040755 },
        { name: 'dir/a.txt', content: 'hello' },
        { name: 'run', content: '#!', mode: 0o100755, method: 0 },
        { name: 'link', content: 'dir/a.txt', mode: 0o120777 },
      ]),
    )
    expect(result).toMatchObject({ fileCount: 3, totalBytes: 7 })
    expect(await readFile(join(box, 'tree/link'), 'utf8')).toBe('hello')
    expect((await lstat(join(box, 'tree/run'))).mode & 0o7777).toBe(0o755)
    const hash = await hashTree(join(box, 'tree'))
    await rm(join(box, 'tree'), { recursive: true })
    await unpack('tar.gz', await tarGz([file('dir/a.txt', 'hello'), { ...file('run', '#!'), mode: 0o755 }, symlink('link', 'dir/a.txt')]))
    expect(await hashTree(join(box, 'tree'))).toBe(hash)
  })

  const refused: [string, ZipEntry[], string][] = [
    ['an absolute path', [{ name: '/etc/x' }], 'refused'],
    ['a path that climbs', [{ name: 'a/../../x' }], 'refused'],
    ['a backslash', [{ name: 'a\\x' }], 'refused'],
    ['a NUL', [{ name: 'a\0b' }], 'control character'],
    ['a link that climbs', [{ name: 'x', content: '../y', mode: 0o120777 }], 'leaves the archive'],
    ['a link to an absolute path', [{ name: 'x', content: '/etc/passwd', mode: 0o120777 }], 'absolute path'],
    ['a link with a huge target', [{ name: 'x', content: 'y/'.repeat(5000), mode: 0o120777 }], 'too long a target'],
    ['a file written through a link', [{ name: 'a', content: 'b', mode: 0o120777 }, { name: 'a/x' }], 'also a link'],
    ['a device', [{ name: 'null', mode: 0o020666 }], 'neither a file'],
    ['a fifo', [{ name: 'pipe', mode: 0o010644 }], 'neither a file'],
    ['a set-user-id file', [{ name: 'su', mode: 0o104755 }], 'set-user-id'],
    ['the same file twice', [{ name: 'a' }, { name: 'a' }], 'twice'],
    ['a file that is also a folder', [{ name: 'a' }, { name: 'a/b' }], 'also a file'],
    ['a folder with content', [{ name: 'a/', content: 'x' }], 'folder with content'],
    ['another name in the local header', [{ name: 'a', localName: 'b' }], 'another name'],
    ['an encrypted file', [{ name: 'a', content: 'x', flags: 0x801, method: 0 }], 'refused'],
    ['an unknown compression', [{ name: 'a', content: 'x', method: 93 }], 'unknown way'],
    ['a wrong checksum', [{ name: 'a', content: 'x', crc: 1 }], 'checksum'],
    [
      'files that share their bytes',
      [
        { name: 'a', content: 'xx' },
        { name: 'a', content: 'xx', shares: 0 },
      ],
      'shares its bytes',
    ],
    ['nothing at all', [], 'empty'],
  ]
  test.each(refused)('with %s is refused and leaves nothing behind', async (_, entries, reason) => {
    expect(await refusal('zip', zip(entries))).toContain(reason)
  })

  test('beyond a limit is refused', async () => {
    const two = zip([
      { name: 'a', content: 'xx' },
      { name: 'b', content: 'xx' },
    ])
    expect(await refusal('zip', two, { maxFiles: 1 })).toContain('more than 1 files')
    expect(await refusal('zip', two, { maxBytes: 3 })).toContain('more than 3 bytes')
    expect(await refusal('zip', zip([{ name: 'zeros', content: new Uint8Array(24 * 1024 * 1024) }]))).toContain('100 times its size')
  })

  test('that is cut off or followed by something is refused', async () => {
    const whole = zip([{ name: 'a', content: 'hello' }])
    expect(await refusal('zip', whole.subarray(0, -10))).toContain('refused')
    expect(await refusal('zip', whole.subarray(0, 20))).toContain('refused')
    expect(await refusal('zip', Buffer.concat([whole, Buffer.from('garbage')]))).toContain('refused')
  })
})
