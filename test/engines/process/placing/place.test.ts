import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { View, Workload } from '../../../../server/engines/port/workload.ts'
import { type PlacingContext, placeWorkload } from '../../../../server/engines/process/placing/place.ts'
import { createSecretFolders } from '../../../../server/engines/process/placing/secret-files.ts'
import { noQuota } from '../../../../server/engines/process/quota/quota.ts'
import type { VolumeMounts } from '../../../../server/engines/process/spec.ts'
import { openVolumes } from '../../../../server/engines/process/volumes/volumes.ts'
import { type Paths, pathsOf, servicePathsOf } from '../../../../server/platform/paths.ts'
import { releaseFolder } from '../../../../server/runtime/artifacts/release-folders.ts'
import { ampleRoom } from '../volumes/world.ts'

const isRoot = process.getuid?.() === 0
const NUMBER = 61_500
let dir: string
let paths: Paths

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'placing-'))
  paths = pathsOf(dir)
  mkdirSync(paths.services)
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const contextOf = (mounts: VolumeMounts = 'folders'): PlacingContext => ({
  places: {
    paths,
    artifact: (ownerId, digest) => releaseFolder(paths, ownerId, digest),
    material: (name) => join(paths.backups, 'restores', name),
    programs: (name) => join(paths.engines, name),
    volumes: openVolumes({ dir: paths.disks, mounts, needed: [], room: ampleRoom }),
    quota: noQuota('a test limits nobody'),
  },
  secrets: createSecretFolders(),
})

const specOf = (changes: Partial<Workload> = {}): Workload => ({
  owner: { id: 'srv-one', number: NUMBER },
  files: { artifact: 'abc' },
  command: 'true',
  env: ({ root, home, secrets, searchPath, volume }: View) => ({
    ROOT: root,
    HOME: home,
    SECRETS: secrets,
    PATH: searchPath,
    ...(volume !== undefined && { VOLUME: volume }),
  }),
  limits: { cpu: 1, memoryBytes: 1, pids: 1 },
  network: { name: 'wsp-one' },
  stack: { kind: 'host', folders: ['/opt/go'], searchPath: ['bin', '/opt/go/bin'] },
  ...changes,
})

test('an artifact is run in its folder, beside which it may write, and reads its toolchains and secrets', async () => {
  const own = servicePathsOf(paths, 'srv-one')
  const root = join(own.releases, 'abc')
  const secrets = join(own.secrets, 'rel-1')
  const spec = specOf({ secretFiles: { key: 'rel-1', read: () => [{ name: 'token', content: 'sesame' }] } })
  const { cwd, env, sandbox } = await placeWorkload(contextOf(), spec)
  expect({ cwd, env }).toEqual({
    cwd: root,
    env: {
      ROOT: root,
      HOME: own.home,
      SECRETS: secrets,
      PATH: `${root}/bin:/opt/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    },
  })
  expect(sandbox).toEqual({
    ownerId: 'srv-one',
    networkId: 'wsp-one',
    uid: NUMBER,
    gid: NUMBER,
    homeDir: own.home,
    tmpDir: own.tmp,
    readOnlyBinds: ['/opt/go', root, secrets, paths.toolchain],
    writableBinds: [own.home],
    coveredDirs: [own.builds, own.releases, own.secrets],
    layerOver: root,
  })
  expect(readFileSync(join(secrets, 'token'), 'utf8')).toBe('sesame')
  expect(statSync(join(secrets, 'token')).mode & 0o777).toBe(0o400)
  if (isRoot) expect([statSync(secrets).uid, statSync(join(secrets, 'token')).uid]).toEqual([NUMBER, NUMBER])
})

test('programs are run in their folder, and see those beside them', async () => {
  const files = { programs: 'server-2', beside: ['server-1'] }
  const env = ({ root, beside }: View) => ({ ROOT: root, ...beside })
  const { env: told, sandbox } = await placeWorkload(contextOf(), specOf({ files, env }))
  const [root, beside] = [join(paths.engines, 'server-2'), join(paths.engines, 'server-1')]
  expect(told).toEqual({ ROOT: root, 'server-1': beside })
  expect(sandbox.readOnlyBinds).toEqual(['/opt/go', root, beside, paths.toolchain])
})

test('a build has its own folder and the cache to write into, no secret and no network of the workspace', async () => {
  const own = servicePathsOf(paths, 'srv-one')
  const { cwd, sandbox } = await placeWorkload(contextOf(), specOf({ files: { build: 'dep-1', dir: 'source/app' }, network: 'none' }))
  expect(cwd).toBe(join(own.builds, 'dep-1/source/app'))
  expect(sandbox.writableBinds).toEqual([own.home, join(own.builds, 'dep-1'), own.cache])
  expect(sandbox.readOnlyBinds).toEqual(['/opt/go', paths.toolchain])
  expect(Object.keys(sandbox)).not.toEqual(expect.arrayContaining(['networkId']))
  expect(Object.keys(sandbox)).not.toEqual(expect.arrayContaining(['layerOver']))
})

test('secret files are read once for all that start at the same moment, and again under another key', async () => {
  const context = contextOf()
  let reads = 0
  const start = (key: string) =>
    placeWorkload(context, specOf({ secretFiles: { key, read: () => [{ name: 'count', content: String(++reads) }] } }))
  await Promise.all([start('rel-1'), start('rel-1')])
  await start('rel-1')
  await start('rel-2')
  expect(reads).toBe(2)
  expect(readdirSync(servicePathsOf(paths, 'srv-one').secrets).sort()).toEqual(['rel-1', 'rel-2'])
})

test('a volume is mounted where the workload wants it, or found where it stands', async () => {
  const spec = specOf({ volume: { volumeId: 'dsk-1', mountPath: '/var/data' } })
  const source = join(paths.disks, 'dsk-1/data')
  await expect(placeWorkload(contextOf('folders'), spec)).rejects.toMatchObject({ code: 'not_found' })
  mkdirSync(source, { recursive: true })
  const mounted = await placeWorkload(contextOf('folders'), spec)
  expect([mounted.env.VOLUME, mounted.sandbox.disk]).toEqual(['/var/data', { source, isImage: false, target: '/var/data' }])
  const joined = await placeWorkload(contextOf('folders'), spec, { isJoining: true })
  expect([joined.env.VOLUME, joined.sandbox.disk]).toEqual(['/var/data', undefined])
  const bare = await placeWorkload(contextOf('nowhere'), spec)
  expect([bare.env.VOLUME, bare.sandbox.disk]).toEqual([source, undefined])
})
