import { join } from 'node:path'
import type { Act, ContractWorld } from '../../world.ts'
import type { EngineFactory } from './processes.ts'
import { makeWorld } from './world.ts'

/** The world of the contract on this machine: acts are lines of a shell. */
export function makeShellWorld(factory: EngineFactory): ContractWorld {
  const world = makeWorld()
  let terminals = 0
  return {
    open: () => factory(world),
    instance: (acts, changes) => world.instance(commandOf(acts), changes),
    task: (acts, changes) => world.task(commandOf(acts), changes),
    terminal: (acts, changes) => {
      const { outputPath: _, timeoutMs: __, ...task } = world.task(commandOf(acts))
      return { ...task, taskId: `shl-${++terminals}`, columns: 80, rows: 24, ...changes }
    },
    asService: (spec, serviceId) => ({ ...spec, sandbox: world.service(serviceId), cwd: join(world.dir, serviceId, 'release') }),
    output: world.output,
    dispose: world.dispose,
  }
}

const commandOf = (acts: readonly Act[]): string => acts.map(lineOf).join('\n') || 'true'

const LINES: Record<Extract<Act, string>, string> = {
  printenv: 'env -0',
  polite: "trap 'echo bye; exit 0' TERM",
  deaf: "trap '' TERM",
  serve: 'while :; do sleep 0.01; done',
  echo: 'exec cat',
}

function lineOf(act: Act): string {
  if (typeof act === 'string') return LINES[act]
  if ('print' in act) return `echo ${act.print}`
  if ('waitMs' in act) return `sleep ${act.waitMs / 1000}`
  if ('exit' in act) return `exit ${act.exit}`
  return `kill -${act.die.slice('SIG'.length)} $$`
}
