import { type Random, randomFrom } from '../server/ingress/random.ts'
import { copyApp } from '../support/app-folder.ts'
import { type Compiled, killQuietly, startCompiled } from '../support/compiled.ts'
import { commandLine, processesOf } from '../support/leftovers.ts'
import { until } from '../support/until.ts'
import { BACK_MS, lostOf, prepareLedger, STORES, type Store, writeThroughApp } from './datastores/ledger.ts'
import { type Outcome, progress, secondsSince } from './outcome.ts'

const WRITERS = 4
const LONGEST_LIFE_MS = 1500

interface Victim {
  name: string
  /** Whether a process is one of these, by how it was started. */
  is(command: string): boolean
}

const victims: readonly Victim[] = [
  { name: 'postgres', is: (command) => /(^|\/)postgres( |:|$)/.test(command) },
  { name: 'valkey', is: (command) => /valkey-server/.test(command) },
  { name: 'pg_receivewal', is: (command) => /pg_receivewal/.test(command) },
  { name: 'the ingress', is: (command) => / ingress /.test(command) },
  { name: 'cpd serve', is: (command) => / serve /.test(command) },
]
const everything: Victim = { name: 'everything', is: (command) => victims.some((victim) => victim.is(command)) }

/** `kill -9` of all that a database's write goes through, one at a time and all at once: what was acknowledged is there afterwards. */
export async function datastoreKills({ kills, seed }: { kills: number; seed: number }): Promise<Outcome> {
  const startedAt = performance.now()
  const random = randomFrom(seed)
  const cpd = await startCompiled()
  const app = copyApp('ledger')
  const stopping = new AbortController()
  try {
    await prepareLedger(cpd, app.dir)
    const acknowledged: Record<Store, Set<number>> = { pg: new Set(), kv: new Set() }
    const writers = STORES.flatMap((store) =>
      Array.from({ length: WRITERS }, (_, index) =>
        writeThroughApp(cpd, { store, acknowledged: acknowledged[store], index, signal: stopping.signal }),
      ),
    )
    for (let kill = 1; kill <= kills; kill++) {
      const choice = [...victims, everything][kill % (victims.length + 1)] ?? everything
      const ended = await killAt(cpd, choice, random)
      await bothTake(cpd, acknowledged)
      progress(`kill ${kill}/${kills} of ${choice.name} (${ended} processes); ${acknowledged.pg.size} rows, ${acknowledged.kv.size} keys`)
    }
    stopping.abort()
    await Promise.all(writers)
    const failures = (await Promise.all(STORES.map((store) => lostOf(cpd, store, acknowledged[store])))).flat()
    const summary = `${kills} kills in ${secondsSince(startedAt)} s: ${acknowledged.pg.size} rows and ${acknowledged.kv.size} keys acknowledged, ${failures.length} lost`
    return { summary, failures }
  } finally {
    stopping.abort()
    app.remove()
    await cpd.stop()
  }
}

async function killAt(cpd: Compiled, victim: Victim, random: Random): Promise<number> {
  await Bun.sleep(random(LONGEST_LIFE_MS))
  const chosen = processesOf(cpd.paths.data).filter((pid) => victim.is(commandLine(pid)))
  const isServeAmong = chosen.includes(cpd.pid())
  for (const pid of chosen) if (pid !== cpd.pid()) killQuietly(pid)
  if (isServeAmong) {
    await cpd.kill9()
    await cpd.start()
  }
  return chosen.length
}

/** Each kill has its recovery: the next one hits what runs again. */
async function bothTake(cpd: Compiled, acknowledged: Record<Store, Set<number>>): Promise<void> {
  for (const store of STORES) {
    const before = acknowledged[store].size
    await until(`${store} takes what is written again`, () => acknowledged[store].size > before, BACK_MS).catch(async (error) => {
      throw new Error(`${error.message}: ${await said(cpd, store)}`)
    })
  }
}

const said = async (cpd: Compiled, store: Store): Promise<string> =>
  (await cpd.appFetch('ledger', `/${store}/0`, { signal: AbortSignal.timeout(10_000) })).text().catch(String)
