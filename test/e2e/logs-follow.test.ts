import { afterAll, beforeAll, expect, test } from 'vitest'
import { spawnProcess } from '../../server/platform/process/spawn.ts'
import type { Log } from '../../shared/log.ts'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder, serviceNamed, settledInstances } from '../support/compiled-steps.ts'
import { until } from '../support/until.ts'

const AWAY_MS = 700

let cpd: Compiled
let app: AppFolder

beforeAll(async () => {
  cpd = await startCompiled()
  app = copyApp('counter')
})

afterAll(async () => {
  app.remove()
  await cpd.stop()
})

/** Reads what `cpctl logs -f --json` prints, as numbers that the app counted, by its version. */
function followCounter() {
  const { argv, env } = cpd.cpctlCommand(['logs', 'counter', '-f', '--json', '--type', 'app', '--since', '1h'])
  const child = spawnProcess(argv, { env, stdout: 'pipe', stderr: 'ignore' })
  const counted = new Map<string, number[]>()
  const finished = readLines(child.stdout, (line) => {
    const [, version = '', count] = /^counter (\S+) (\d+)$/.exec((JSON.parse(line) as Log).message) ?? []
    if (count === undefined) return
    counted.set(version, [...(counted.get(version) ?? []), Number(count)])
  })
  return {
    of: (version: string) => counted.get(version) ?? [],
    async stop() {
      child.kill('SIGTERM')
      await finished
    },
  }
}

async function readLines(stream: ReadableStream<Uint8Array> | undefined, onLine: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of stream ?? []) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  }
}

/** Every number from 1 on, in order, each once. */
const unbroken = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)

test('cpctl logs -f misses no line and repeats none, through a redeploy, a restart and a kill of the control plane', async () => {
  await deployFolder(cpd, app.dir)
  const { id } = await serviceNamed(cpd, 'counter')
  const follower = followCounter()
  const grows = async (version: string) => {
    const from = follower.of(version).length
    await until(`lines of version ${version} come`, () => follower.of(version).length > from + 50)
  }
  await grows('1')

  app.setVersion('2')
  await deployFolder(cpd, app.dir)
  await settledInstances(cpd, id, 1)
  await grows('2')

  await cpd.terminate()
  await Bun.sleep(AWAY_MS)
  await cpd.start()
  await grows('2')

  await cpd.kill9()
  await Bun.sleep(AWAY_MS)
  await cpd.start()
  await grows('2')

  await cpctl(cpd, 'services', 'suspend', 'counter')
  await settledInstances(cpd, id, 0)
  const [stored1, stored2] = [await storedCount('1'), await storedCount('2')]
  await until('the last line has come', () => follower.of('2').length >= stored2)
  await follower.stop()

  expect(follower.of('1')).toEqual(unbroken(stored1))
  expect(follower.of('2')).toEqual(unbroken(stored2))
  console.info(`logs -f: ${stored1} and ${stored2} lines, none missed, none repeated`)
}, 120_000)

/** How many lines of this version the server has. */
async function storedCount(version: string): Promise<number> {
  const lines = await cpctl(cpd, 'logs', 'counter', '--json', '--type', 'app', '--since', '1h', '--search', `counter ${version} `)
  return lines.split('\n').filter((line) => line !== '' && (JSON.parse(line) as Log).message.startsWith(`counter ${version} `)).length
}
