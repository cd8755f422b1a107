import { afterAll, beforeAll, expect, test } from 'vitest'
import { allWorkloads } from '../../../../server/runtime/workloads/store.ts'
import { type FakeWorld, openFakeWorld } from '../../../support/fake-world.ts'
import { randomNumbers } from '../../../support/random-numbers.ts'
import { happen, oneOf, withAccidents, withoutAccidents } from './events.ts'
import { kinds } from './kinds.ts'
import { type MadeService, makeServiceIn } from './made-service.ts'
import { expectGoodEnd } from './rest.ts'

/** Each seed is a life of all kinds of services. Many more are tried by hand: CHAOS_SEEDS=1000, from CHAOS_FIRST on. */
const SEEDS = Number(process.env.CHAOS_SEEDS ?? 10)
const FIRST = Number(process.env.CHAOS_FIRST ?? 1)
const TIMEOUT_MS = 60_000 + SEEDS * 10_000
const STEPS = 90
const LONGEST_PASS_MS = 1200

let world: FakeWorld
beforeAll(async () => {
  world = await openFakeWorld({ CP_HEALTH_TIMEOUT_SECONDS: '8', CP_RELEASES_KEPT: '5' })
})
afterAll(() => world?.close())

const makeServices = (seed: number): Promise<MadeService[]> =>
  Promise.all(Object.entries(kinds).map(([name, kind]) => makeServiceIn(world, { name: `${name}-${seed}`, ...kind })))

/** Nothing runs that has no row, and of no row more than one. */
function expectKnown(told: string): void {
  const running = world.machine.running()
  const rows = new Set(allWorkloads(world.context.db).map(({ id }) => id))
  const strangers = running.filter((id, index) => running.indexOf(id) !== index || !rows.has(id))
  expect(strangers, told).toEqual([])
}

/** Two instances on one disk would damage what is on it. */
function expectAlone(services: readonly MadeService[], told: string): void {
  const together = services.filter(({ hasDisk }) => hasDisk).filter((service) => service.running().length > 1)
  expect(
    together.map(({ name }) => name),
    told,
  ).toEqual([])
}

/** Services that have served once, and which of them are reached by nobody now though they are awake. */
function watchReach(): { served: Set<string>; unreached(services: readonly MadeService[]): string[] } {
  const served = new Set<string>()
  const isUp = (id: string) => {
    const run = world.machine.runs.get(id)
    return run !== undefined && run.end === undefined && run.program.ports.size > 0
  }
  const isReached = ({ id }: MadeService) => world.ingress.targetsOf(id).some(({ instanceId }) => isUp(instanceId))
  return {
    served,
    unreached(services) {
      for (const service of services) if (isReached(service)) served.add(service.id)
      const awake = services.filter(({ id }) => served.has(id) && world.ingress.routeOf(id)?.kind !== 'asleep')
      return awake.filter((service) => !isReached(service)).map(({ name }) => name)
    },
  }
}

interface Life {
  what: Parameters<typeof happen>[1]
  check(services: readonly MadeService[], told: string): void
}

async function live(seed: number, { what, check }: Life): Promise<MadeService[]> {
  const below = randomNumbers(seed)
  const services = await makeServices(seed)
  for (let step = 0; step < STEPS; step++) {
    await happen({ world, below, service: oneOf({ below }, services) }, what)
    await world.pass(1 + below(LONGEST_PASS_MS))
    check(services, `seed ${seed}, step ${step}`)
  }
  return services
}

test(
  'whatever is asked and whatever happens, exactly what is wanted runs in the end, known to the database and reached by its routes',
  async () => {
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
      const services = await live(seed, {
        what: withAccidents,
        check(all, told) {
          expectKnown(told)
          expectAlone(all, told)
        },
      })
      await expectGoodEnd(world, services, `seed ${seed}`)
    }
  },
  TIMEOUT_MS,
)

test(
  'as long as nothing that runs is hurt, a service that has served is served at every moment, whatever is deployed and whoever is away',
  async () => {
    const reach = watchReach()
    let services: readonly MadeService[] = []
    const unreached: string[] = []
    // A service with a disk is replaced stop-first.
    const look = () => unreached.push(...reach.unreached(services.filter(({ hasDisk }) => !hasDisk)))
    world.ingress.onPublish(look)
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
      const all = await live(seed, {
        what: withoutAccidents,
        check(made, told) {
          services = made
          look()
          expect(unreached, told).toEqual([])
          expectKnown(told)
          expectAlone(made, told)
        },
      })
      services = []
      await expectGoodEnd(world, all, `seed ${seed}`)
    }
    expect(reach.served.size).toBeGreaterThan(SEEDS)
  },
  TIMEOUT_MS,
)
