/**
 * The ingress beside the proxies people use: `npm run bench ingress`, or some of it: `bun test/bench/ingress.ts [part of a scenario's name …]`. One core for the proxy, the other for the
 * load and the upstream; the proxies take turns in each round, figures are medians of the rounds. Counters, limits and the access log are on.
 */
import { ownIngress } from './ingress/own.ts'
import { type Contender, peers } from './ingress/peers.ts'
import { type Scenario, scenarios } from './ingress/scenarios.ts'
import { cpuMicrosOf, createWorld, residentMibOf, type World } from './ingress/world.ts'

const ROUNDS = 3
/** Our code is compiled to its final form only after some 100,000 requests. */
const WARM_UP_SECONDS = 3
const MEASURED_SECONDS = 3

interface Row {
  proxy: string
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** On the processor, for one request. */
  cpuMicros: number
  residentMib: number
  failures: number
}

export async function run(filters: readonly string[] = []): Promise<void> {
  const world = await createWorld()
  try {
    const own = [0, 10, 10_000].map((extraHosts) => ({ name: extraHosts === 0 ? 'ingress' : `ingress-${extraHosts}-hosts`, extraHosts }))
    const wanted = scenarios.filter(({ name }) => filters.length === 0 || filters.some((filter) => name.includes(filter)))
    const isUsed = (name: string) => wanted.some(({ proxies }) => proxies.includes(name))
    const proxies = [
      ...(await Promise.all(own.filter(({ name }) => isUsed(name)).map((options) => ownIngress(world, options)))),
      ...(await Promise.all(peers.map((peer) => peer(world)))),
    ]
    for (const scenario of wanted) print(scenario, await measureAll(world, scenario, proxies))
  } finally {
    await world.close()
  }
}

async function measureAll(world: World, scenario: Scenario, proxies: readonly Contender[]): Promise<Row[]> {
  const taking = proxies.filter(({ name }) => scenario.proxies.includes(name))
  for (const proxy of taking) await scenario.run(world, proxy, WARM_UP_SECONDS)
  const rounds: Row[] = []
  for (let round = 0; round < ROUNDS; round++) for (const proxy of taking) rounds.push(await measure(world, scenario, proxy))
  return taking.map(({ name }) => medianOf(rounds.filter(({ proxy }) => proxy === name)))
}

async function measure(world: World, scenario: Scenario, proxy: Contender): Promise<Row> {
  const before = cpuMicrosOf(proxy.pid)
  const { requests, seconds, p50Ms, p99Ms, failures } = await scenario.run(world, proxy, MEASURED_SECONDS)
  const cpuMicros = (cpuMicrosOf(proxy.pid) - before) / requests
  return { proxy: proxy.name, perSecond: requests / seconds, p50Ms, p99Ms, cpuMicros, residentMib: residentMibOf(proxy.pid), failures }
}

function medianOf(rows: readonly Row[]): Row {
  const median = rows.toSorted((a, b) => a.perSecond - b.perSecond)[Math.floor(rows.length / 2)]
  if (median === undefined) throw new Error('Nothing was measured')
  return { ...median, failures: rows.reduce((sum, { failures }) => sum + failures, 0) }
}

function print({ name }: Scenario, rows: readonly Row[]): void {
  console.log(`\n  ${name}`)
  const own = rows[0]
  for (const row of rows) {
    const figures = [
      `${Math.round(row.perSecond)}/s`.padStart(9),
      `p50 ${row.p50Ms.toFixed(2)} ms`.padStart(14),
      `p99 ${row.p99Ms.toFixed(2)} ms`.padStart(14),
      `CPU ${row.cpuMicros.toFixed(1)} µs`.padStart(15),
      `${Math.round(row.residentMib)} MiB`.padStart(8),
      row.failures > 0 ? `${row.failures} FAILED` : '',
    ]
    const ratio =
      own === undefined || row === own
        ? ''
        : `  ×${(own.perSecond / row.perSecond).toFixed(2)}, CPU ×${(own.cpuMicros / row.cpuMicros).toFixed(2)}`
    console.log(`    ${row.proxy.padEnd(20)}${figures.join(' ')}${ratio}`)
  }
}

if (import.meta.main) {
  await run(process.argv.slice(2))
  process.exit(0)
}
