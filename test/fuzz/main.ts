/** `bun test/fuzz/main.ts <target> [--inputs N] [--seed N] [--keep]`: prints what was tried and what was found, and fails where something was. */
import { parseArgs } from 'node:util'
import { keep, worthKeeping } from './base/corpus.ts'
import { MAX_INPUT_BYTES } from './base/mutate.ts'
import { type FuzzReport, fuzz } from './base/run.ts'
import { startTarget, targetNames } from './targets/targets.ts'
import type { Watched } from './watchdog.ts'

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: {
      inputs: { type: 'string', default: '100000' },
      seed: { type: 'string', default: '1' },
      keep: { type: 'boolean', default: false },
    },
  })
  const name = targetNames.find((known) => known === positionals[0])
  if (name === undefined) {
    console.error(`Say which of these is to be tried: ${targetNames.join(', ')}`)
    process.exit(2)
  }
  const target = await startTarget(name)
  const report = await fuzz(target, {
    inputs: Number(values.inputs),
    seed: Number(values.seed),
    onProgress: (soFar) => console.log(lineOf(name, soFar)),
    onInput: watched(),
  })
  target.close?.()
  if (values.keep) for (const input of worthKeeping(report.discovered)) keep(name, input)
  for (const { input, reason } of report.failures) console.log(`FAILED: ${JSON.stringify(input.toString('latin1'))}\n${reason}`)
  console.log(`${lineOf(name, report)}; ${report.failures.length} failures`)
  process.exit(report.failures.length > 0 ? 1 : 0)
}

function lineOf(name: string, { inputs, seconds, outcomes, slowestMs, compared }: FuzzReport): string {
  const beside = Object.entries(compared).map(([reader, count]) => `, ${reader} ${count}`)
  const rate = Math.round(inputs / seconds)
  return `${name}: ${inputs} inputs in ${seconds.toFixed(0)} s (${rate}/s), ${outcomes} outcomes, slowest ${slowestMs.toFixed(1)} ms${beside.join('')}`
}

/** Shows each input to a thread beside this one before it is tried. */
function watched(): (input: Buffer) => void {
  const shared: Watched = { counter: new SharedArrayBuffer(4), input: new SharedArrayBuffer(2 + 2 * MAX_INPUT_BYTES) }
  const count = new Int32Array(shared.counter)
  const bytes = new Uint8Array(shared.input)
  const worker = new Worker(new URL('./watchdog.ts', import.meta.url))
  worker.unref()
  worker.postMessage(shared)
  return (input) => {
    bytes[0] = input.length & 0xff
    bytes[1] = input.length >> 8
    bytes.set(input, 2)
    count[0] = (count[0] ?? 0) + 1
  }
}
