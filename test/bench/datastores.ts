import { readdirSync, readFileSync } from 'node:fs'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { commandLine, processesOf } from '../support/leftovers.ts'
import { until } from '../support/until.ts'
import { median } from './running-server.ts'

const IDLE_DATABASES = Number(process.env.BENCH_DATABASES ?? 20)
const CREATIONS = 5
const LONG_MS = 120_000
const SETTLE_MS = 30_000
/** What a spare takes to be made, from its disk on. */
const SPARE_MS = 10_000
const KB_PER_MIB = 1024

type Kind = 'postgres' | 'key-value'

/** From the request for a database to the moment at which it can be connected to, and what idle ones take, of the executables in dist/: `npm run bench datastores`. */
export async function run(): Promise<void> {
  // Disks are promised whole, and twenty are more than many a machine has to spare.
  const cpd = await startCompiled({ env: { CP_DISK_RESERVE_MB: '256' } })
  try {
    const first = await creation(cpd, 'postgres', 'first')
    const spared = await times(async (index) => {
      await until('a spare is being made', () => readdirSync(cpd.paths.disks).length > index + 1, LONG_MS)
      await Bun.sleep(SPARE_MS)
      return await creation(cpd, 'postgres', `spared-${index}`)
    })
    const plain = await times((index) => creation(cpd, 'postgres', `plain-${index}`))
    const stores = await times((index) => creation(cpd, 'key-value', `store-${index}`))
    console.log(`database, request to available: the first ${shown([first])}, with a spare ${shown(spared)}, without ${shown(plain)}`)
    console.log(`key-value store, request to available: ${shown(stores)}`)
    for (let index = 1 + 2 * CREATIONS; index < IDLE_DATABASES; index++) await creation(cpd, 'postgres', `idle-${index}`)
    await Bun.sleep(SETTLE_MS)
    report(cpd.paths.data)
  } finally {
    await cpd.stop()
  }
}

async function times(measure: (index: number) => Promise<number>): Promise<number[]> {
  const taken: number[] = []
  for (let index = 0; index < CREATIONS; index++) taken.push(await measure(index))
  return taken
}

async function creation(cpd: Compiled, kind: Kind, name: string): Promise<number> {
  const begun = performance.now()
  const { status, body } = await cpd.api<{ id: string }>(`/${kind}`, { json: { name } })
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
  await until(
    `${name} is available`,
    async () => (await cpd.api<{ status: string }>(`/${kind}/${body.id}`)).body.status === 'available',
    LONG_MS,
  )
  return performance.now() - begun
}

const shown = (taken: readonly number[]): string => `${median(taken).toFixed(0)} ms (of ${taken.map((ms) => ms.toFixed(0)).join(', ')})`

/** What runs as the user of a datastore is its server; the monitor of its sandbox and the receiver of its log stand beside it. */
function report(dataDir: string): void {
  const byUser = Map.groupBy(pids(), userOf)
  const own = processesOf(dataDir)
  const servers = (kind: Kind) => [...new Set(own.filter((pid) => programs[kind].test(commandLine(pid))).map(userOf))]
  const processes = (kind: Kind) => servers(kind).map((user) => byUser.get(user) ?? [])
  for (const kind of ['postgres', 'key-value'] as const) {
    const memory = processes(kind).map(sumOf)
    const sum = memory.reduce((total, one) => total + one, 0)
    console.log(
      `${memory.length} idle ${kind}: ${sum.toFixed(0)} MiB together (PSS), each ${(sum / memory.length).toFixed(1)} (least ${Math.min(...memory).toFixed(1)}, most ${Math.max(...memory).toFixed(1)})`,
    )
  }
  for (const pid of processes('postgres')[0] ?? []) console.log(`  ${sumOf([pid]).toFixed(1)} MiB ${commandLine(pid).slice(0, 80)}`)
  const beside = Map.groupBy(own, (pid) => besides.find(([, is]) => is.test(commandLine(pid)))?.[0])
  for (const [name] of besides) console.log(`${beside.get(name)?.length ?? 0} ${name}: ${sumOf(beside.get(name) ?? []).toFixed(1)} MiB`)
  const together = [...processes('postgres').flat(), ...(beside.get(RECEIVERS) ?? [])]
  console.log(
    `${processes('postgres').length} idle databases with their receivers: ${sumOf(together).toFixed(0)} MiB (PSS; the goal is 300)`,
  )
}

const programs: Record<Kind, RegExp> = { postgres: /(^|\/)postgres -D /, 'key-value': /valkey-server/ }
const RECEIVERS = 'receivers of logs'
const besides = [
  [RECEIVERS, /pg_receivewal/],
  ['monitors', /monitor\.sh/],
  ['cpd serve', / serve /],
  ['ingress', / ingress /],
] as const

const pids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

const userOf = (pid: number): number => Number(/^Uid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1])

const sumOf = (found: readonly number[]): number =>
  found.reduce((sum, pid) => sum + Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0), 0) / KB_PER_MIB

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

if (import.meta.main) {
  await run()
  process.exit(0)
}
