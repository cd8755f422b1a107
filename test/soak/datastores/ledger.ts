import type { Compiled } from '../../support/compiled.ts'
import { until } from '../../support/until.ts'

export const STORES = ['pg', 'kv'] as const
export type Store = (typeof STORES)[number]

/** After many ends a server waits up to a minute before it is started again. */
export const BACK_MS = 120_000
const AWAY_MS = 25
const WRITERS = 4

/** A database, a store, and an app that writes into both and knows them by reference. */
export async function prepareLedger(cpd: Compiled, dir: string, options: readonly string[] = []): Promise<void> {
  await run(cpd, ['postgres', 'create', 'db', ...options])
  await run(cpd, ['kv', 'create', 'cache', ...options])
  await run(cpd, ['services', 'create', 'ledger', '--type', 'web_service'])
  await run(cpd, ['env', 'set', 'DATABASE_URL', '--service', 'ledger', '--from-postgres', 'db'])
  await run(cpd, ['env', 'set', 'REDIS_URL', '--service', 'ledger', '--from-kv', 'cache'])
  await run(cpd, ['deploy', dir])
}

async function run(cpd: Compiled, args: string[]): Promise<void> {
  const { exitCode, stdout, stderr } = await cpd.cpctl(args)
  if (exitCode !== 0) throw new Error(`cpctl ${args.join(' ')}: ${stdout}${stderr}`)
}

export interface Writing {
  store: Store
  acknowledged: Set<number>
  /** One of at most four writers. */
  index: number
  signal: AbortSignal
}

/** Writes one number after the other. What is not acknowledged may be there or not. */
export async function writeThroughApp(cpd: Compiled, { store, acknowledged, index, signal }: Writing): Promise<void> {
  for (let number = index; !signal.aborted; number += WRITERS) {
    const isTaken = await taken(cpd, `/${store}/${number}`)
    if (isTaken) acknowledged.add(number)
    else await Bun.sleep(AWAY_MS)
  }
}

const taken = async (cpd: Compiled, path: string): Promise<boolean> => {
  try {
    const answer = await cpd.appFetch('ledger', path, { signal: AbortSignal.timeout(5000) })
    await answer.arrayBuffer()
    return answer.status === 200
  } catch {
    return false
  }
}

export async function lostOf(cpd: Compiled, store: Store, acknowledged: ReadonlySet<number>): Promise<string[]> {
  const answer = await until(`${store} tells what it holds`, () => keptBy(cpd, store), BACK_MS)
  const kept = new Set(answer)
  return [...acknowledged].filter((number) => !kept.has(number)).map((number) => `${store} has lost ${number}, which it acknowledged`)
}

async function keptBy(cpd: Compiled, store: Store): Promise<number[] | undefined> {
  const answer = await cpd.appFetch('ledger', `/${store}`).catch(() => undefined)
  return answer?.status === 200 ? ((await answer.json()) as number[]) : undefined
}
