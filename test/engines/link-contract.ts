import { describe, expect, test } from 'vitest'
import type { Engine, LinkedOwner } from '../../server/engines/port/port.ts'
import type { InstanceSpec } from '../../server/engines/port/workload.ts'
import { eachInAWorld } from './opened.ts'
import { type Act, type ContractWorld, until } from './world.ts'

/** What every engine promises of private networks, where its instances have networks of their own. */
export function describeLinks(engineName: string, makeWorld: () => ContractWorld): void {
  describe(engineName, () => linkContract(makeWorld))
}

function linkContract(makeWorld: () => ContractWorld): void {
  let world: ContractWorld
  let engine: Engine
  const open = eachInAWorld({
    makeWorld,
    openOn: (one) => one.open(),
    use: (...given) => {
      ;[world, engine] = given
    },
  })

  const specOf = (ownerId: string, network: string, acts: readonly Act[]): InstanceSpec => ({
    ...world.asService(world.instance(acts), ownerId),
    network: { name: network },
  })
  const start = async (ownerId: string, network: string, acts: readonly Act[]) => {
    const spec = specOf(ownerId, network, acts)
    await engine.start(spec)
    return spec
  }
  const linked = ({ owner, instanceId }: InstanceSpec, network: string, name: string): LinkedOwner => ({
    owner,
    network,
    names: [name],
    instanceIds: [instanceId],
  })
  const heard = (spec: InstanceSpec) => world.output(spec).trim().split('\n').at(-1)
  const hears = (spec: InstanceSpec, line: string) => until(`${spec.instanceId} hears "${line}"`, () => heard(spec) === line)
  const asked = async (ownerId: string, network: string, name: string) => {
    const { listens: _, ...spec } = specOf(ownerId, network, [{ ask: name }])
    await engine.start({ ...spec, runs: 'once' })
    await until('it has asked', () => world.output(spec).includes('\n'))
    return world.output(spec).trim()
  }

  const promised = (what: string, prove: () => Promise<void>) =>
    test(what, async ({ skip }) => {
      skip(!engine.capabilities.ownNetworks, 'instances share a network here')
      await prove()
    })

  describe('private networks', () => {
    promised('are reached from inside only, by names that each has of its own', async () => {
      const [ours, theirs] = [
        await start('srv-one', 'a', [{ answer: 'ours' }, 'serve']),
        await start('srv-two', 'b', [{ answer: 'theirs' }, 'serve']),
      ]
      await engine.link([linked(ours, 'a', 'api'), { ...linked(theirs, 'b', 'api'), names: ['api', 'only-b'] }])
      await hears(await start('srv-three', 'a', [{ watch: 'api' }]), 'api: ours')
      await hears(await start('srv-four', 'b', [{ watch: 'api' }]), 'api: theirs')
      expect(await asked('srv-three', 'a', 'only-b')).toBe('only-b: nobody')
      expect(await asked('srv-four', 'b', 'only-b')).toBe('only-b: theirs')
    })

    promised('gain and lose members that run already, in both directions', async () => {
      const [api, other] = [
        await start('srv-api', 'a', [{ answer: 'api' }, 'serve']),
        await start('srv-other', 'b', [{ answer: 'other' }, 'serve']),
      ]
      const [inA, inB] = [await start('srv-in-a', 'a', [{ watch: 'api' }]), await start('srv-in-b', 'b', [{ watch: 'api' }])]
      const wanders = await start('srv-wanders', 'a', [{ watch: 'other' }])
      const link = (apiIn: string, wandererIn: string) =>
        engine.link([
          linked(api, apiIn, 'api'),
          linked(other, 'b', 'other'),
          { ...linked(wanders, wandererIn, ''), names: [], instanceIds: [] },
        ])
      for (const network of ['a', 'b', 'a']) {
        await link(network, network)
        await hears(inA, network === 'a' ? 'api: api' : 'api: nobody')
        await hears(inB, network === 'b' ? 'api: api' : 'api: nobody')
        await hears(wanders, network === 'b' ? 'other: other' : 'other: nobody')
      }
    })

    promised('are those that owners were linked into last, whatever a later start says', async () => {
      const api = await start('srv-api', 'a', [{ answer: 'api' }, 'serve'])
      await engine.link([
        linked(api, 'a', 'api'),
        { owner: world.asService(api, 'srv-job').owner, network: 'b', names: [], instanceIds: [] },
      ])
      await hears(await start('srv-first', 'a', [{ watch: 'api' }]), 'api: api')
      expect(await asked('srv-job', 'a', 'api')).toBe('api: nobody')
    })

    promised('outlast the control plane', async () => {
      const [api, inA] = [await start('srv-api', 'a', [{ answer: 'api' }, 'serve']), await start('srv-in-a', 'a', [{ watch: 'api' }])]
      const inB = { owner: world.asService(api, 'srv-in-b').owner, network: 'b', names: [], instanceIds: [] }
      await engine.link([linked(api, 'b', 'api'), inB])
      await engine.close()
      engine = await open()
      await hears(inA, 'api: nobody')
      expect(await asked('srv-in-b', 'a', 'api')).toBe('api: api')
    })
  })
}
