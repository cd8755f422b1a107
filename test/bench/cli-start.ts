import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { spawnProcess } from '../../server/platform/process/spawn.ts'
import { exampleService, pageOf } from '../cli/examples.ts'
import { startFakeServer } from '../cli/fake-server.ts'

const ROUNDS = 41
const SERVICES = 20
const HELP_GOAL_MS = 40
const LIST_GOAL_MS = 60

/** Start to end of `cpctl --help` and `cpctl services list` (local server, 20 services), against node doing nothing. */
export async function run(): Promise<void> {
  const cpctl = join(import.meta.dirname, '../../dist/cpctl')
  if (!existsSync(cpctl)) throw new Error('dist/cpctl is missing: run npm run build first.')
  const node = Bun.which('node')
  if (node === null) throw new Error('node is not on the PATH: it is what cpctl is compared with.')
  const services = Array.from({ length: SERVICES }, (_, index) => exampleService({ name: `service-${index}` }))
  const server = startFakeServer({ listServices: () => pageOf('service', services) })
  const env = { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_bench', HOME: '/nonexistent' }
  const times = { node: [] as number[], help: [] as number[], list: [] as number[] }
  try {
    // The first round reads the executables from disk.
    for (let round = 0; round <= ROUNDS; round++) {
      const nodeMs = await timeOf([node, '-e', '0'], env)
      const helpMs = await timeOf([cpctl, '--help'], env)
      const listMs = await timeOf([cpctl, 'services', 'list'], env)
      if (round === 0) continue
      times.node.push(nodeMs)
      times.help.push(helpMs)
      times.list.push(listMs)
    }
  } finally {
    await server.stop()
  }
  const nodeMs = median(times.node)
  console.log(`node -e 0             ${nodeMs.toFixed(1)} ms (median of ${ROUNDS})`)
  report('cpctl --help', median(times.help), { nodeMs, goalMs: HELP_GOAL_MS })
  report('cpctl services list', median(times.list), { nodeMs, goalMs: LIST_GOAL_MS })
}

async function timeOf(argv: string[], env: Record<string, string>): Promise<number> {
  const startedAt = performance.now()
  const { exitCode } = await spawnProcess(argv, { env }).exited
  if (exitCode !== 0) throw new Error(`${argv.join(' ')} exited with ${exitCode}`)
  return performance.now() - startedAt
}

function report(name: string, ms: number, { nodeMs, goalMs }: { nodeMs: number; goalMs: number }): void {
  const verdict = ms < goalMs ? 'met' : 'MISSED'
  console.log(`${name.padEnd(21)} ${ms.toFixed(1)} ms = ${(ms / nodeMs).toFixed(2)} x node; goal under ${goalMs} ms ${verdict}`)
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
