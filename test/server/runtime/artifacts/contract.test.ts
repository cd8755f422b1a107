import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { pathsOf, servicePathsOf } from '../../../../server/platform/paths.ts'
import { ensureServiceFolders } from '../../../../server/platform/service-folders.ts'
import { createFakeArtifacts } from '../../../../server/runtime/artifacts/fake.ts'
import type { ArtifactsOf } from '../../../../server/runtime/artifacts/port.ts'
import { createReleaseFolders } from '../../../../server/runtime/artifacts/release-folders.ts'

interface World {
  artifacts: ArtifactsOf<string>
  /** Something built, with this content. */
  build(serviceId: string, content: string): Promise<string>
  dispose(): void
}

const { signal } = new AbortController()

function folderWorld(): World {
  const dir = mkdtempSync(join(tmpdir(), 'artifacts-'))
  const paths = pathsOf(dir)
  mkdirSync(paths.services)
  let count = 0
  return {
    artifacts: createReleaseFolders({ paths, config: { CP_DISK_RESERVE_MB: 0 } }),
    async build(serviceId, content) {
      await ensureServiceFolders(paths, { id: serviceId, uid: 61_700 })
      const folder = join(servicePathsOf(paths, serviceId).builds, `dep-${++count}`)
      mkdirSync(folder)
      writeFileSync(join(folder, 'app'), content)
      return folder
    },
    dispose: () => rmSync(dir, { recursive: true, force: true }),
  }
}

const worlds = {
  folders: folderWorld,
  fake: (): World => ({ artifacts: createFakeArtifacts(), build: async (_, content) => content, dispose: () => {} }),
}

let world: World
afterEach(() => world.dispose())

describe.each(Object.entries(worlds))('artifacts in %s', (_, open) => {
  const keep = async (serviceId: string, content: string) =>
    await world.artifacts.keep(serviceId, await world.build(serviceId, content), signal)

  test('equal content has one digest and is kept once, other content has another', async () => {
    world = open()
    const [first, second, other] = [await keep('srv-a', 'one'), await keep('srv-a', 'one'), await keep('srv-a', 'two')]
    expect(second).toBe(first)
    expect(other).not.toBe(first)
    expect([first, other].map((digest) => world.artifacts.has('srv-a', digest))).toEqual([true, true])
    expect(world.artifacts.folder('srv-a', first)).not.toBe(world.artifacts.folder('srv-a', other))
  })

  test('each service has its own', async () => {
    world = open()
    const digest = await keep('srv-a', 'one')
    expect(world.artifacts.has('srv-b', digest)).toBe(false)
    expect(await keep('srv-b', 'one')).toBe(digest)
    await world.artifacts.prune('srv-a', new Set())
    expect(['srv-a', 'srv-b'].map((id) => world.artifacts.has(id, digest))).toEqual([false, true])
  })

  test('what is pruned is gone at once, and may be pruned again and kept again', async () => {
    world = open()
    const [kept, gone] = [await keep('srv-a', 'one'), await keep('srv-a', 'two')]
    const pruned = world.artifacts.prune('srv-a', new Set([kept]))
    expect([kept, gone].map((digest) => world.artifacts.has('srv-a', digest))).toEqual([true, false])
    await pruned
    await world.artifacts.prune('srv-a', new Set([kept]))
    expect(await keep('srv-a', 'two')).toBe(gone)
    expect(world.artifacts.has('srv-a', gone)).toBe(true)
  })

  test('a service of which nothing is kept can be pruned', async () => {
    world = open()
    await world.artifacts.prune('srv-a', new Set())
  })

  test('sizes tell by service what is kept', async () => {
    world = open()
    await keep('srv-a', 'one')
    const before = await world.artifacts.sizes(['srv-a'], 'files', signal)
    await keep('srv-a', 'two')
    const after = await world.artifacts.sizes(['srv-a'], 'files', signal)
    expect(after.get('srv-a')).toBeGreaterThan(before.get('srv-a') ?? Number.POSITIVE_INFINITY)
  })

  test('nothing is kept for who has given up', async () => {
    world = open()
    const built = await world.build('srv-a', 'one')
    await expect(world.artifacts.keep('srv-a', built, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
    await world.artifacts.prune('srv-a', new Set())
  })
})
