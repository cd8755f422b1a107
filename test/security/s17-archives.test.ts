import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { servicePathsOf } from '../../server/platform/paths.ts'
import { expectError } from '../conformance/expect-error.ts'
import { createService, packApp, upload } from '../support/apps.ts'
import { type TarEntry, tar, tarGz, zip } from '../support/archives.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { everythingIn, pathOf } from './data-files.ts'

let platform: Platform
let serviceId: string
let before: string[]
/** Where root can write; the answers may name it, as it stands in the archive. */
const canary = `/var/lib/cpd-canary-${process.pid}`
beforeAll(async () => {
  platform = await startPlatform({ CP_UPLOAD_MAX_MB: '4', CP_SOURCE_MAX_MB: '40' })
  serviceId = await createService(platform, { name: 'target' })
  await upload(platform, serviceId, await packApp('hello-js'), { query: '?deploy=false' })
  before = tree()
})
afterAll(() => platform.close())

const tree = (): string[] => {
  const { root } = servicePathsOf(platform.context.paths, serviceId)
  return [...everythingIn(root), ...everythingIn(platform.context.paths.uploads)].map(pathOf).sort()
}

const file = (name: string, content = 'x'): TarEntry => ({ name, content })
/** Bytes that pack about 50 to 1, which is no bomb yet. */
const repeated = (mebibytes: number): Uint8Array =>
  Buffer.concat(Array.from({ length: mebibytes * 16 }, () => Buffer.concat([randomBytes(1024), Buffer.alloc(63 * 1024)])))
const climb = '../'.repeat(12)

const tars: [string, () => Promise<TarEntry[]> | TarEntry[]][] = [
  ['an absolute path', () => [file(canary)]],
  ['a path that climbs', () => [file(`a/${climb}${canary}`)]],
  [
    'a symbolic link to an absolute path',
    () => [{ name: 'out', type: 'symlink', linkname: dirname(canary) }, file(`out/${basename(canary)}`)],
  ],
  ['a symbolic link that climbs', () => [{ name: 'out', type: 'symlink', linkname: `${climb}var/lib` }]],
  ['a hard link to a file of the machine', () => [{ name: 'shadow', type: 'link', linkname: '/etc/shadow' }]],
  ['a device', () => [{ name: 'null', type: 'character-device', devmajor: 1, devminor: 3 }]],
  ['a set-user-id file', () => [{ ...file('su'), mode: 0o4755 }]],
  ['the same file twice', () => [file('a'), file('a', 'y')]],
  ['a bomb by ratio', () => [{ name: 'zeros', content: new Uint8Array(24 * 1024 * 1024) }]],
  ['more than is taken unpacked', () => ['a', 'b', 'c'].map((name) => ({ name, content: repeated(14) }))],
  ['control characters in a name', () => [file('a\u001b[2Jb')]],
]

describe('S17: an archive over the API', () => {
  test.each(tars)('with %s is a 400, nothing is written outside and nothing is left behind', async (_, entries) => {
    const reply = await upload(platform, serviceId, new Uint8Array(await tarGz(await entries())))
    const { message } = expectError(reply, 'bad_request')
    expect(message).not.toContain(platform.context.paths.data)
    expectNothingLeft()
  })

  test('with lies in a zip is a 400', async () => {
    const lies = [
      zip([{ name: `../../${canary}` }]),
      zip([{ name: canary }]),
      zip([
        { name: 'out', content: dirname(canary), mode: 0o120777 },
        { name: `out/${basename(canary)}`, content: 'x' },
      ]),
      zip([{ name: 'a', localName: `../${canary}` }]),
      zip([{ name: 'a', content: 'x', crc: 1 }]),
      zip([{ name: 'zeros', content: new Uint8Array(24 * 1024 * 1024) }]),
    ]
    for (const bytes of lies)
      expectError(await upload(platform, serviceId, new Uint8Array(bytes), { type: 'application/zip' }), 'bad_request')
    expectNothingLeft()
  })

  test('that is cut off anywhere, or followed by something, is a 400', async () => {
    const whole = await tar([{ name: 'a', content: randomBytes(20_000) }, file('b')])
    const packed = gzipSync(whole)
    const zipped = zip([{ name: 'a', content: 'hello' }])
    for (const bytes of [
      packed.subarray(0, 9000),
      packed.subarray(0, -4),
      Buffer.concat([packed, Buffer.from('more')]),
      gzipSync(whole.subarray(0, 8000)),
    ]) {
      expectError(await upload(platform, serviceId, new Uint8Array(bytes)), 'bad_request')
    }
    for (const bytes of [zipped.subarray(0, -10), Buffer.concat([zipped, Buffer.from('more')])]) {
      expectError(await upload(platform, serviceId, new Uint8Array(bytes), { type: 'application/zip' }), 'bad_request')
    }
    expectNothingLeft()
  })

  test('in a form is looked at in the same way, and a name of its own leads nowhere', async () => {
    const bytes = new Uint8Array(await tarGz([file(canary)]))
    const form = new FormData()
    form.append('file', new Blob([bytes]), `../../../../${canary}`)
    const url = `${platform.url}/v1/services/${serviceId}/source/upload`
    const response = await fetch(url, { method: 'POST', body: form, headers: { authorization: `Bearer ${platform.adminToken}` } })
    expect(response.status).toBe(400)
    expectNothingLeft()
  })

  test('that is too large is a 413', async () => {
    const reply = await upload(platform, serviceId, new Uint8Array(gzipSync(randomBytes(4 * 1024 * 1024 + 1))))
    expectError(reply, 'payload_too_large')
    expectNothingLeft()
  })

  test('that is fine goes through after all of them', async () => {
    const reply = await upload(platform, serviceId, await packApp('hello-js', { VERSION: '2\n' }), { query: '?deploy=false' })
    expect(reply.status).toBe(201)
    const deploys = await call<unknown[]>(`${platform.url}/v1/services/${serviceId}/deploys`, { token: platform.adminToken })
    expect(deploys.body).toEqual([])
  })
})

function expectNothingLeft(): void {
  expect(tree()).toEqual(before)
  expect(existsSync(canary)).toBe(false)
}
