import { readFileSync } from 'node:fs'
import { createIngressClient, type IngressClient } from '../../server/ingress/control/client.ts'
import { processesOf } from '../../server/platform/process/process-start.ts'
import { type Random, randomFrom } from '../server/ingress/random.ts'
import { until } from '../support/until.ts'
import { type Failure, kinds } from './load/attempt.ts'
import { describeFailure, type Outcome, progress, secondsSince } from './outcome.ts'
import { startWorld, type World } from './world.ts'

export interface IngressKillsOptions {
  /** Hand-overs in the middle of which the predecessor is killed. */
  handOvers: number
  /** Kills of the only ingress. */
  kills: number
  ratePerSecond: number
  seed: number
}

/** From the start of the successor on; it serves at about the middle of this. */
const LONGEST_INTO_HAND_OVER_MS = 600
/** Between two of them: so that the load is all on the new one. */
const REST_REQUESTS = 200
/** The kernel closes the connections of a killed process at once. What fails later than this has another reason. */
const NOTICED_WITHIN_MS = 1_000
const BACK_WITHIN_MS = 1_000
const BACK_TIMEOUT_MS = 15_000
const PROBE_MS = 2

/** A kill, and until when it may be the reason for a failure. */
interface Kill {
  at: number
  until: number
  /** Whether connections made after it may have failed as well, as nobody else served. */
  ofTheOnlyOne: boolean
}

/**
 * `kill -9` of the predecessor in the middle of hand-overs, which may cost the connections it had and nothing else; then of the only
 * ingress, after which another one must serve within a second.
 */
export async function ingressKills({ handOvers, kills, ratePerSecond, seed }: IngressKillsOptions): Promise<Outcome> {
  const world = await startWorld({ ratePerSecond, seed })
  const client = createIngressClient(world.cpd.paths.ingressSocket)
  const random = randomFrom(seed)
  const killed: Kill[] = []
  const failures: string[] = []
  try {
    for (let count = 1; count <= handOvers; count++) {
      killed.push(await killPredecessor(world, client, random))
      await world.load.answered(REST_REQUESTS)
      progress(`hand-over ${count}/${handOvers}; ${world.load.record.count()} requests, ${world.load.record.failures.length} lost`)
    }
    for (let count = 1; count <= kills; count++) {
      const kill = await killOnly(world, client)
      killed.push(kill)
      await world.load.answered(REST_REQUESTS)
      const backMs = Math.round(kill.until - kill.at)
      if (backMs > BACK_WITHIN_MS) failures.push(`After kill ${count} of the only ingress it served again after ${backMs} ms`)
      progress(`kill ${count}/${kills} of the only ingress: served again after ${backMs} ms`)
    }
  } finally {
    progress(await world.load.stop())
    await world.close()
  }
  return outcomeOf(world, killed, failures)
}

async function killPredecessor({ cpd }: World, client: IngressClient, random: Random): Promise<Kill> {
  const { pid } = await client.status()
  const { command, env } = startOf(pid)
  const before = new Set(processesOf(command))
  const outputPath = cpd.paths.ingressOutput
  // Whoever asks for it hears nothing when the one that was asked dies.
  const handedOver = client.handOver({ command, env, outputPath }).catch(() => undefined)
  await until('the successor is started', () => processesOf(command).some((found) => !before.has(found)))
  await Bun.sleep(random(LONGEST_INTO_HAND_OVER_MS))
  const at = performance.now()
  process.kill(pid, 'SIGKILL')
  await handedOver
  await until('the successor has the name', async () => {
    const status = await client.status().catch(() => undefined)
    return status !== undefined && status.pid !== pid
  })
  return { at, until: at + NOTICED_WITHIN_MS, ofTheOnlyOne: false }
}

async function killOnly({ cpd }: World, client: IngressClient): Promise<Kill> {
  const { pid } = await client.status()
  const command = startOf(pid).command
  // Predecessors are still there for the WebSockets they have; they do not listen.
  for (const other of processesOf(command)) if (other !== pid) process.kill(other, 'SIGKILL')
  const at = performance.now()
  process.kill(pid, 'SIGKILL')
  const serves = async () => (await cpd.appFetch('traffic', '/', { keepalive: false }).catch(() => undefined))?.status === 200
  const deadline = at + BACK_TIMEOUT_MS
  while (!(await serves())) {
    if (performance.now() > deadline) throw new Error(`Nothing serves ${BACK_TIMEOUT_MS} ms after the only ingress was killed`)
    await Bun.sleep(PROBE_MS)
  }
  return { at, until: performance.now(), ofTheOnlyOne: true }
}

/** How a process was started. */
function startOf(pid: number): { command: string[]; env: Record<string, string> } {
  const partsOf = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').slice(0, -1)
  const variables = partsOf('environ').map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)])
  return { command: partsOf('cmdline'), env: Object.fromEntries(variables) }
}

function outcomeOf({ load: { record, startedAt } }: World, kills: readonly Kill[], failures: string[]): Outcome {
  const only = kills.filter(({ ofTheOnlyOne }) => ofTheOnlyOne)
  const predecessors = kills.filter(({ ofTheOnlyOne }) => !ofTheOnlyOne)
  const lostWith = (some: readonly Kill[]) => record.failures.filter((failure) => some.some((kill) => isExplained(failure, kill)))
  const unexplained = record.failures.filter((failure) => !kills.some((kill) => isExplained(failure, kill)))
  const backMs = only.map(({ at, until }) => Math.round(until - at))
  return {
    summary:
      `${predecessors.length} predecessors killed: ${describeLost(lostWith(predecessors))} lost on their connections; ` +
      `the only ingress killed ${only.length} times: back after ${backMs.join(', ')} ms, ${lostWith(only).length} lost meanwhile; ` +
      `${record.count()} requests and echoes in ${secondsSince(startedAt)} s, ${unexplained.length} failed without a reason`,
    failures: [...failures, ...unexplained.map((failure) => describeFailure(failure, startedAt))],
  }
}

function describeLost(lost: readonly Failure[]): string {
  const parts = kinds.flatMap((kind) => {
    const count = lost.filter((failure) => failure.kind === kind).length
    return count === 0 ? [] : [`${kind} ${count}`]
  })
  return `${lost.length} (${parts.join(', ')})`
}

/** What a killed ingress takes with it: what was on its connections at that moment. */
function isExplained({ openedAt, doneAt }: Failure, { at, until, ofTheOnlyOne }: Kill): boolean {
  if (ofTheOnlyOne) return openedAt <= until && doneAt >= at && doneAt <= until + NOTICED_WITHIN_MS
  return openedAt <= at && doneAt >= at && doneAt <= until
}
