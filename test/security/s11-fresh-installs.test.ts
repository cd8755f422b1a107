import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newKeySecret } from '../../server/identity/api-keys/secret.ts'
import { servicePathsOf } from '../../server/platform/paths.ts'
import { apiKeyPrefix } from '../../shared/api-key.ts'
import { createService, deployApp, packApp } from '../support/apps.ts'
import { call, cookieOf } from '../support/client.ts'
import { makeKey } from '../support/members.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { testAdmin } from '../support/server.ts'
import { everythingIn, ownedOf, pathOf } from './data-files.ts'

const CHECKSUM_LETTERS = 6

let installs: Platform[]
let serviceId: string
beforeAll(async () => {
  installs = [await startPlatform(), await startPlatform()]
  serviceId = await createService(first(), { name: 'app', secretFiles: [{ name: 'secret.txt', content: 'x' }] })
  await deployApp(first(), serviceId, await packApp('hello-js'))
})
afterAll(async () => {
  for (const install of installs) await install.close()
})

function first(): Platform {
  const [install] = installs
  if (install === undefined) throw new Error('Nothing was installed')
  return install
}

test('S11: two fresh installs share no key, session token or stored secret', async () => {
  const [one = [], other = []] = await Promise.all(
    installs.map(async (install) => {
      const login = await call(`${install.url}/v1/auth/login`, { json: testAdmin })
      const rows = install.db.query<{ password_hash: string }, []>('SELECT password_hash FROM users').all()
      return [
        readFileSync(install.context.paths.masterKey, 'utf8'),
        cookieOf(login),
        (await makeKey(install, 'viewer')).secret,
        install.context.sealer.seal('the same', 'place'),
        ...rows.map((row) => row.password_hash),
      ]
    }),
  )
  expect(one.length).toBe(5)
  expect(one.filter((secret) => other.includes(secret))).toEqual([])
})

test('S11: keys and session tokens hold at least 160 random bits', async () => {
  const login = await call(`${first().url}/v1/auth/login`, { json: testAdmin })
  const token = cookieOf(login).split('=')[1] ?? ''
  expect(Buffer.from(token, 'base64url').length * 8).toBeGreaterThanOrEqual(160)
  const secrets = Array.from({ length: 500 }, newKeySecret)
  const random = secrets.map((secret) => secret.slice(apiKeyPrefix.length, -CHECKSUM_LETTERS))
  expect(new Set(random).size).toBe(500)
  const alphabet = new Set(random.join(''))
  expect((random[0]?.length ?? 0) * Math.log2(alphabet.size)).toBeGreaterThanOrEqual(160)
})

describe('S11: modes in the data directory', () => {
  test('files that hold secrets are 0600, their folders 0700, and all of them ours', () => {
    const { paths } = first().context
    const own = servicePathsOf(paths, serviceId)
    const secretFolders = [paths.db, paths.run, paths.uploads, own.sources, own.output]
    expect(ownedOf(paths.masterKey)).toMatchObject({ mode: 0o600, uid: process.getuid?.() })
    for (const folder of secretFolders) {
      expect(ownedOf(folder)).toMatchObject({ path: folder, mode: 0o700, uid: process.getuid?.() })
      for (const entry of everythingIn(folder)) {
        // What an app writes beside its code is its own, below a folder that nobody else enters.
        if (pathOf(entry).includes('/layer/')) continue
        const owned = ownedOf(pathOf(entry))
        expect(owned.uid).toBe(process.getuid?.())
        if (entry.isDirectory()) expect(owned).toEqual({ ...owned, mode: owned.mode & 0o711 })
      }
    }
    for (const name of ['control.db', 'logs.db']) expect(existsSync(join(paths.db, name))).toBe(true)
    for (const entry of everythingIn(paths.db)) expect({ ...ownedOf(pathOf(entry)) }).toMatchObject({ mode: 0o600 })
  })

  test('nothing anywhere is writable for others, set-user-id, or listable where services live', () => {
    const { paths } = first().context
    for (const entry of everythingIn(paths.data)) {
      const owned = ownedOf(pathOf(entry))
      // Modes of links mean nothing.
      if (!entry.isSymbolicLink()) expect(owned).toEqual({ ...owned, mode: owned.mode & 0o775 })
    }
    expect(ownedOf(paths.data).mode).toBe(0o711)
    expect(ownedOf(paths.services).mode).toBe(0o711)
    expect(ownedOf(servicePathsOf(paths, serviceId).root).mode).toBe(0o710)
  })

  test("secret files of a release are readable by the service's user alone, and a release is writable for nobody", () => {
    const own = servicePathsOf(first().context.paths, serviceId)
    const secret = everythingIn(own.secrets).find(({ name }) => name === 'secret.txt')
    expect(secret).toBeDefined()
    const { uid } = first().db.query<{ uid: number }, [string]>('SELECT uid FROM services WHERE id = ?').get(serviceId) ?? { uid: 0 }
    if (secret !== undefined) {
      expect(ownedOf(pathOf(secret))).toMatchObject({ mode: 0o400, uid })
      expect(ownedOf(secret.parentPath)).toMatchObject({ mode: 0o500, uid })
    }
    for (const entry of everythingIn(own.releases)) {
      const owned = ownedOf(pathOf(entry))
      // Root's own bit says nothing: it is what an app's layer over the release begins with.
      const writable = owned.uid === 0 ? 0o022 : 0o222
      if (!entry.isSymbolicLink()) expect({ ...owned, mode: owned.mode & writable }).toEqual({ ...owned, mode: 0, uid: process.getuid?.() })
    }
  })
})
