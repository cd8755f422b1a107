import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import { makeWorld } from './support/world.ts'

test('an engine starts though a loss of power has emptied what it had written last', async () => {
  const world = makeWorld()
  const [record, network] = [join(world.stateDir, 'instances', 'srv-one-1'), join(world.stateDir, 'network')]
  for (const folder of [record, network]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const file of [join(record, 'about.json'), join(network, 'links.json'), join(network, 'subnet')]) writeFileSync(file, '')
  const engine = await createProcessEngine({ stateDir: world.stateDir, label: `cpd-test-power-${process.pid}` })
  try {
    expect(await engine.list()).toEqual([])
    const spec = world.instance('exec sleep 1000')
    await engine.start(spec)
    expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'running' })
  } finally {
    await engine.removeOwner('srv-one')
    await engine.close()
    world.dispose()
  }
})
