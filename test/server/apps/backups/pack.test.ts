import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BackupDamaged, checkFile, packFile, unpackFile } from '../../../../server/apps/backups/repository/pack.ts'

const dir = mkdtempSync(join(tmpdir(), 'pack-'))
afterAll(() => rmSync(dir, { recursive: true }))

let identity = ''
let recipient = ''
beforeAll(async () => {
  identity = await generateX25519Identity()
  recipient = await identityToRecipient(identity)
})

const content = Buffer.concat([randomBytes(700_000), Buffer.alloc(900_000, 'row')])
let count = 0

async function packed() {
  const path = join(dir, `packed-${++count}`)
  return { path, ...(await packFile(Readable.from([content]), path, { recipient })) }
}

describe('a packed file', () => {
  it('holds what was put in, smaller, under the digest of that', async () => {
    const { path, digest, plainBytes, packedBytes } = await packed()
    expect(plainBytes).toBe(content.length)
    expect(packedBytes).toBe(statSync(path).size)
    expect(packedBytes).toBeLessThan(plainBytes)
    expect((await buffer(await unpackFile(path, { identity, digest }))).equals(content)).toBe(true)
    expect((await packed()).digest).toBe(digest)
  })

  it('is no file of what failed on its way', async () => {
    const source = Readable.from(
      (async function* () {
        yield content
        throw new Error('the server has gone')
      })(),
    )
    await expect(packFile(source, join(dir, 'failed'), { recipient })).rejects.toThrow('the server has gone')
  })

  const damages: Record<string, (path: string) => void> = {
    'a byte was flipped': (path) => {
      const bytes = readFileSync(path)
      bytes[500_000] = (bytes[500_000] ?? 0) ^ 1
      writeFileSync(path, bytes)
    },
    'its end is missing': (path) => truncateSync(path, 300_000),
    'it is cut at a chunk of the encryption': (path) => truncateSync(path, 184 + 16 + 5 * (65_536 + 16)),
    'nothing of it is left': (path) => truncateSync(path, 0),
  }
  for (const [name, damage] of Object.entries(damages))
    it(`is found damaged when ${name}`, async () => {
      const { path, digest } = await packed()
      damage(path)
      await expect(checkFile(path, { identity, digest })).rejects.toBeInstanceOf(BackupDamaged)
    })

  it('is found to be of another key, and to be another content', async () => {
    const { path, digest } = await packed()
    const other = await generateX25519Identity()
    await expect(checkFile(path, { identity: other, digest })).rejects.toThrow('encrypted for another key')
    await expect(checkFile(path, { identity, digest: '0'.repeat(32) })).rejects.toThrow('not what was stored')
  })
})
