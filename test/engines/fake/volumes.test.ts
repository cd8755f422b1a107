import { describe, expect, test } from 'vitest'
import { createFakeEngine } from '../../../server/engines/fake/engine.ts'
import { createFakeMachine, volumeIn } from '../../../server/engines/fake/machine.ts'
import { createFakeVolumes, fakeVolumeCapabilities } from '../../../server/engines/fake/volumes.ts'
import { describeVolumes } from '../volumes-contract.ts'
import type { VolumesWorld } from '../volumes-world.ts'
import { until } from '../world.ts'
import { makeFakeWorld } from './world.ts'

const NEVER = new AbortController().signal

function makeVolumesWorld(): VolumesWorld {
  const machine = createFakeMachine()
  const world = makeFakeWorld(machine)
  let count = 0
  return {
    open: async () => createFakeVolumes(machine),
    newVolume: (changes = {}) => ({
      id: `dsk-${++count}`,
      owner: { id: 'srv-one', number: 1 },
      sizeGb: 1,
      kind: 'folder',
      ...changes,
    }),
    write: async (id, name, text) => void volumeIn(machine, id).files.set(name, text),
    read: async (id, name) => volumeIn(machine, id).files.get(name),
    async hold(id) {
      const engine = createFakeEngine(machine)
      const spec = world.instance(['serve'], { volume: { volumeId: id, mountPath: '/var/data' } })
      await engine.start(spec)
      return () => engine.stop(spec.instanceId, { graceMs: 0 })
    },
    dispose: async () => {},
  }
}

describeVolumes('fake volumes', makeVolumesWorld)

describe('a fake volume', () => {
  const volume = { id: 'dsk-1', owner: { id: 'srv-one', number: 1 }, sizeGb: 1, kind: 'folder' as const }
  const mount = { volume: { volumeId: volume.id, mountPath: '/var/data' } }

  test('is what a program writes to and reads from, and outlives it', async () => {
    const machine = createFakeMachine()
    const [world, engine] = [makeFakeWorld(machine), createFakeEngine(machine)]
    await engine.volumes.make(volume)
    await engine.start({ ...world.instance([]), command: 'put note by the first', instanceId: 'srv-one-1', ...mount })
    await until('it has written', () => volumeIn(machine, volume.id).files.get('note') === 'by the first')
    const reader = { ...world.instance([]), command: 'get note; get other', instanceId: 'srv-one-2', ...mount }
    await engine.start(reader)
    await until('it has read', () => machine.output(reader.outputName) === 'by the first\nnone\n')
  })

  test('that is not there starts nothing', async () => {
    const machine = createFakeMachine()
    const start = createFakeEngine(machine).start({ ...makeFakeWorld(machine).instance(['serve']), ...mount })
    await expect(start).rejects.toMatchObject({ code: 'not_found' })
    expect(machine.running()).toEqual([])
  })

  test('is befallen by what a test wants: a call that is refused, one whose answer is lost, one without an answer', async () => {
    const machine = createFakeMachine()
    const volumes = createFakeVolumes(machine)
    machine.faults.inject('volumes.make', { kind: 'refused' })
    await expect(volumes.make(volume)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await volumes.list()).toEqual([])
    machine.faults.inject('volumes.make', { kind: 'lost' })
    await expect(volumes.make(volume)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await volumes.list()).toEqual([volume.id])
    machine.faults.partition()
    let isTaken = false
    const taking = volumes.snapshot(volume.id, 'snp-a', NEVER).then(() => {
      isTaken = true
    })
    await Promise.resolve()
    expect(isTaken).toBe(false)
    machine.faults.heal()
    await taking
  })

  test('can be of an engine that can do less', () => {
    const capabilities = { ...fakeVolumeCapabilities, grow: 'never' as const }
    expect(createFakeEngine(createFakeMachine(), { volumes: capabilities }).volumes.capabilities.grow).toBe('never')
  })
})
