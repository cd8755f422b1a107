import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { spawnProcess } from '../../../server/platform/process/spawn.ts'
import { until } from '../../support/until.ts'

export interface Attack {
  mode: string
  port: number
  count: number
  host: string
  login?: string
  /** Its connections are those of somebody with a password, who may keep them. */
  isReleased?: boolean
}

/** Somebody who wants something meanwhile. */
export type Beside = () => Promise<void>

export interface Attacked {
  attack: Attack
  opened: number
  refused: number
  /** From the first connection until the last was let go; undefined where some were held. */
  letGoMs: number | undefined
  mostMb: number
  leftMb: number
  mostFiles: number
  /** What honest clients waited meanwhile, in milliseconds. */
  latency: { median: number; most: number; count: number }
  failed: number
}

const HOLD_SECONDS = 60
const KB_PER_MB = 1024
const BETWEEN_MS = 100

interface State {
  opened: number
  open: number
  refused: number
}

export async function attack(one: Attack, { pid, beside }: { pid: number; beside: Beside }): Promise<Attacked> {
  const { mode, port, count, host, login } = one
  const startedAt = performance.now()
  const idleFiles = filesOf(pid)
  const words = [mode, port, count, HOLD_SECONDS, host, ...(login === undefined ? [] : [login])].map(String)
  const child = spawnProcess(['python3', resolve('test/fixtures/attackers/hold.py'), ...words], {
    env: { PATH: process.env.PATH ?? '' },
    stdout: 'pipe',
  })
  let state: State = { opened: 0, open: 0, refused: 0 }
  let letGoMs: number | undefined
  const over = (async () => {
    for await (const line of linesOf(child.stdout)) {
      state = JSON.parse(line) as State
      const areAllThrough = state.opened + state.refused === count
      if (areAllThrough && state.open === 0) letGoMs ??= performance.now() - startedAt
    }
    await child.exited
  })()
  let isOver = false
  void over.then(() => {
    isOver = true
  })
  const waits: number[] = []
  let [mostMb, mostFiles, failed] = [0, 0, 0]
  while (!isOver) {
    const from = performance.now()
    await beside().then(
      () => waits.push(performance.now() - from),
      () => failed++,
    )
    mostMb = Math.max(mostMb, memoryOf(pid))
    mostFiles = Math.max(mostFiles, filesOf(pid))
    await Bun.sleep(BETWEEN_MS)
  }
  await over
  await until('the ingress has closed their connections', () => filesOf(pid) <= idleFiles + 20, 60_000)
  const sorted = waits.sort((a, b) => a - b).map(Math.round)
  const latency = { median: sorted[sorted.length >> 1] ?? 0, most: sorted.at(-1) ?? 0, count: sorted.length }
  return { attack: one, opened: state.opened, refused: state.refused, letGoMs, mostMb, leftMb: memoryOf(pid), mostFiles, latency, failed }
}

async function* linesOf(stream: ReadableStream<Uint8Array> | undefined): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of stream ?? []) {
    rest += decoder.decode(bytes, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    yield* lines.filter((line) => line !== '')
  }
}

const memoryOf = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / KB_PER_MB)

const filesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length
