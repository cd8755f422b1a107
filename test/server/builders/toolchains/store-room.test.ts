import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openToolchainStore, type StoreReader, type ToolchainStore } from '../../../../server/builders/toolchains/store/store.ts'

const MIB = 1024 * 1024

let dir: string
let inUse: string[] | undefined
let store: ToolchainStore

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'room-'))
  inUse = []
  store = await openToolchainStore(dir, { maxBytes: 4 * MIB, foldersInUse: () => inUse })
})
afterEach(() => rmSync(dir, { recursive: true }))

/** An entry of one mebibyte, made and last used so long ago. */
async function place(version: string, usedMinutesAgo: number): Promise<void> {
  await fetched(version)
  const usedAt = Date.now() / 1000 - usedMinutesAgo * 60
  utimesSync(join(dir, `node-${version}`), usedAt, usedAt)
}

function fetched(version: string, { by = store as StoreReader, mostBytes = 1.5 * MIB } = {}): Promise<string> {
  const make = async (into: string) => {
    mkdirSync(into)
    writeFileSync(join(into, 'node'), Buffer.alloc(MIB - 16_384, 1))
  }
  return by.ensure(`node-${version}`, { mostBytes, make }, new AbortController().signal)
}

const versions = () => readdirSync(dir).sort()

test('a fetch that has its room takes nothing away', async () => {
  await place('20.0.0', 60)
  await place('22.0.0', 50)
  await fetched('24.0.0')
  expect(versions()).toEqual(['node-20.0.0', 'node-22.0.0', 'node-24.0.0'])
})

test('what was not used for longest goes for a fetch, and no more of it than has to', async () => {
  await place('18.0.0', 40)
  await place('20.0.0', 60)
  await place('22.0.0', 50)
  await fetched('24.0.0')
  expect(versions()).toEqual(['node-18.0.0', 'node-22.0.0', 'node-24.0.0'])
})

test('what a release names stays', async () => {
  await place('18.0.0', 40)
  await place('20.0.0', 60)
  await place('22.0.0', 50)
  inUse = [join(dir, 'node-20.0.0'), '/usr/bin']
  await fetched('24.0.0')
  expect(versions()).toEqual(['node-18.0.0', 'node-20.0.0', 'node-24.0.0'])
})

test('what a running build was given stays, and for a minute after that', async () => {
  for (const version of ['18.0.0', '20.0.0', '22.0.0']) await place(version, 60)
  const loans = [store.lend(), store.lend()] as const
  for (const loan of loans) await loan.find('node-18.0.0')
  await fetched('20.0.0', { by: loans[0] })
  for (const version of ['18.0.0', '20.0.0']) utimesSync(join(dir, `node-${version}`), 1, 1)
  await fetched('24.0.0')
  expect(versions()).toEqual(['node-18.0.0', 'node-20.0.0', 'node-24.0.0'])

  await loans[0].giveBack()
  expect(Date.now() - statSync(join(dir, 'node-20.0.0')).mtimeMs).toBeLessThan(60_000)
  utimesSync(join(dir, 'node-18.0.0'), 1, 1)
  utimesSync(join(dir, 'node-20.0.0'), 2, 2)
  await fetched('25.0.0')
  expect(versions()).toEqual(['node-18.0.0', 'node-24.0.0', 'node-25.0.0'])
})

test('a fetch that does not fit is refused in words, and takes nothing of what is needed', async () => {
  for (const version of ['18.0.0', '20.0.0', '22.0.0']) await place(version, 60)
  inUse = ['18.0.0', '20.0.0', '22.0.0'].map((version) => join(dir, `node-${version}`))
  await expect(fetched('24.0.0')).rejects.toMatchObject({
    code: 'unavailable',
    message:
      'There is no room for Node.js 24.0.0 on this server, which keeps 4 MiB of toolchains at most, and services or running builds need those ' +
      'that are there. To go on, ask for a version that is there (Node.js 18.0.0, Node.js 20.0.0, Node.js 22.0.0), deploy again in some ' +
      'minutes, or have the operator of this server raise CP_TOOLCHAINS_MAX_MB.',
  })
  expect(versions()).toHaveLength(3)
})

test('nothing goes while nobody can tell what is needed', async () => {
  for (const version of ['18.0.0', '20.0.0', '22.0.0']) await place(version, 60)
  inUse = undefined
  await expect(fetched('24.0.0')).rejects.toThrow('no room for Node.js 24.0.0')
  expect(versions()).toHaveLength(3)
})

test('fetches at the same time count each other, and a failed one gives its room back', async () => {
  const { promise: mayGoOn, reject: fail } = Promise.withResolvers<void>()
  const { signal } = new AbortController()
  const slow = store.ensure('node-20.0.0', { mostBytes: 3 * MIB, make: () => mayGoOn }, signal)
  await expect.poll(versions).toEqual([expect.stringMatching('incoming-')])
  await expect(fetched('24.0.0')).rejects.toThrow('no room for Node.js 24.0.0')
  fail(new Error('broken off'))
  await expect(slow).rejects.toThrow('broken off')
  await fetched('24.0.0')
  expect(versions()).toEqual(['node-24.0.0'])
})

test('what is being fetched for long is no entry, whatever its folder is called', async () => {
  const folder = join(dir, 'incoming-4f480869-e3e9-48d3-b9c1-d5f6b8e1d3b5')
  mkdirSync(folder)
  utimesSync(folder, 1, 1)
  for (const version of ['18.0.0', '20.0.0', '22.0.0']) await place(version, 50)
  await fetched('24.0.0')
  expect(versions()).toContain('incoming-4f480869-e3e9-48d3-b9c1-d5f6b8e1d3b5')
  expect((await store.entries()).map(({ name }) => name)).not.toContain('incoming-4f480869-e3e9-48d3-b9c1-d5f6b8e1d3b5')
})
