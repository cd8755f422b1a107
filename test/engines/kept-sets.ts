import { Database } from 'bun:sqlite'
import type { Engine } from '../../server/engines/port/port.ts'
import type { Sets } from '../../server/engines/port/sets.ts'
import { migrateDatabase } from '../../server/platform/db/migrate.ts'
import { realClock } from '../../server/platform/work/clock.ts'
import { createExitReasons } from '../../server/runtime/workloads/exit-reasons.ts'
import { createKeeper } from '../../server/runtime/workloads/keeper.ts'
import type { WorkloadOwner } from '../../server/runtime/workloads/owner.ts'
import type { SetsWorld } from './sets-contract.ts'
import type { Act, ContractWorld } from './world.ts'

/** A world of sets that are kept on an engine which only starts and stops. */
export function makeKeptWorld(world: ContractWorld): SetsWorld {
  const db = new Database(':memory:', { strict: true })
  migrateDatabase(db)
  const opened: { engine: Engine; end(): Promise<void> }[] = []
  let count = 0
  const newId = () => `srv-one-kept${++count}`

  async function open(): Promise<Sets> {
    const engine = await world.open()
    const stopper = new AbortController()
    const options = { db, engine, exitReasons: createExitReasons(), log: { info() {}, error() {} }, ...realClock, signal: stopper.signal }
    const keeper = createKeeper(options, () => [ownerOf(world, 'lasting', newId), ownerOf(world, 'once', newId)])
    const stopListening = engine.onExit(keeper.poke)
    await keeper.recover()
    keeper.pokeAll()
    const end = async () => {
      stopListening()
      stopper.abort(new Error('The test is over'))
      await keeper.settled()
    }
    opened.push({ engine, end })
    return keeper
  }

  return {
    async open() {
      for (const { engine, end } of opened.splice(0)) {
        await end()
        await engine.close()
      }
      return await open()
    },
    async running() {
      const engine = opened.at(-1)?.engine
      const listed = (await engine?.list()) ?? []
      const states = await Promise.all(listed.map(({ instanceId }) => engine?.inspect(instanceId)))
      return listed.filter((_, index) => states[index]?.status === 'running').map(({ instanceId }) => instanceId)
    },
    async crash(id) {
      await opened.at(-1)?.engine.stop(id, { graceMs: 0 })
    },
    async dispose() {
      for (const { engine, end } of opened.splice(0)) {
        // A keeper that goes on would start another in the place of what is removed.
        await end()
        await engine.removeOwner('srv-one')
        await engine.close()
      }
      db.close()
      world.dispose()
    },
  }
}

const ownerOf = (world: ContractWorld, purpose: 'lasting' | 'once', newId: () => string): WorkloadOwner => ({
  ownerKind: 'contract',
  purpose,
  policy: { restarts: purpose === 'once' ? 'never' : 'always' },
  newId,
  specOf: async ({ id, spec }) => world.instance(spec.acts as Act[], { instanceId: id }),
  follow() {},
  closeOutput: async () => {},
  graceMs: () => 2000,
})
