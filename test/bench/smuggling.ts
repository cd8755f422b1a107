/**
 * What the ingress and the proxies people use do with the payloads of S19: `npm run bench smuggling`, or `bun test/bench/smuggling.ts --all`
 * for each payload by name.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { payloads } from '../security/s19-payloads.ts'
import { connectRaw } from '../server/ingress/world.ts'
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts'
import { type Outcome, outcomeOf } from './smuggling/outcome.ts'
import { type Candidate, proxies } from './smuggling/proxies.ts'

const QUIET_MS = 150
const LONGEST_MS = 1500

/** By proxy, the outcome of each payload in their order. */
type Outcomes = Record<string, Outcome[]>

export async function run(isTold = false): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-smuggling-'))
  try {
    const found = await Promise.all(
      Object.entries(proxies).map(async ([name, start]) => {
        const upstream = startRecordingUpstream()
        const proxy = await start({ dir: join(dir, name), upstreamPort: upstream.port })
        const outcomes = await tryAll(proxy, upstream)
        await proxy.stop()
        upstream.stop()
        return [name, outcomes] as const
      }),
    )
    const outcomes: Outcomes = Object.fromEntries(found)
    if (isTold) printEach(outcomes)
    printCounts(outcomes)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function tryAll(proxy: Candidate, upstream: RecordingUpstream): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const payload of payloads) {
    upstream.taken()
    await send(proxy.port, Buffer.from(payload.bytes, 'latin1'))
    outcomes.push(outcomeOf(payload, upstream.taken()))
  }
  return outcomes
}

/** Sends it and waits until the proxy closes, has nothing more to say, or takes too long. */
async function send(port: number, bytes: Buffer): Promise<void> {
  const client = await connectRaw(port)
  client.send(bytes)
  let isClosed = false
  void client.closed.then(() => {
    isClosed = true
  })
  const startedAt = performance.now()
  let [length, heardAt] = [0, Number.POSITIVE_INFINITY]
  while (!isClosed && performance.now() - startedAt < LONGEST_MS && performance.now() - heardAt < QUIET_MS) {
    if (client.text().length > length) [length, heardAt] = [client.text().length, performance.now()]
    await Bun.sleep(5)
  }
  client.kill()
  // What the proxy passes on although its client is gone.
  await Bun.sleep(20)
}

function printEach(outcomes: Outcomes): void {
  const names = Object.keys(outcomes)
  for (const [index, { group, name, arrives }] of payloads.entries()) {
    const cells = names.map((proxy) => (outcomes[proxy]?.[index] ?? '').padEnd(10))
    console.log(`${cells.join(' ')} ${arrives > 0 ? '(valid) ' : ''}${group}: ${name}`)
  }
}

const told: [outcome: Outcome, isValid: boolean, text: string][] = [
  ['refused', false, 'refused'],
  ['repaired', false, 'put in order, one request arrives'],
  ['ambiguous', false, 'passed on as it is, for the instance to guess'],
  ['more', false, 'what stands behind it arrives as a second request'],
  ['passed', true, 'passed on in strict form'],
  ['refused', true, 'refused'],
]

/** The table is for server/docs/security.md. What is only larger than our limits is left out: others have other limits. */
function printCounts(outcomes: Outcomes): void {
  const names = Object.keys(outcomes)
  const row = (cells: readonly (string | number)[]) => console.log(`| ${cells.join(' | ')} |`)
  row(['payloads', ...names])
  row(['---', ...names.map(() => '---')])
  for (const [outcome, isValid, text] of told) {
    const isCounted = payloads.map(({ arrives, group }) => arrives > 0 === isValid && group !== 'sizes')
    const counts = names.map((name) => outcomes[name]?.filter((one, index) => isCounted[index] && one === outcome).length ?? 0)
    row([`${isValid ? 'valid' : 'malformed'} (${isCounted.filter(Boolean).length}): ${text}`, ...counts])
  }
}

if (import.meta.main) {
  await run(process.argv.includes('--all'))
  process.exit(0)
}
