import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configFile } from '../../server/apps/key-value/server/config.ts'
import { runProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import { keyValuePlans } from '../../shared/key-value.ts'
import { freePorts } from '../support/free-ports.ts'
import { makeStore } from '../support/key-value.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'
import { confine } from './confine.ts'
import { inTurns, printRatio } from './turns.ts'

const ROUNDS = 3
const REQUESTS = 50_000
const GOAL = 0.95
const PLAN = 'pro'
const PASSWORD = 'of-the-peer'

const kinds = [
  { name: 'SET', args: ['-t', 'set'] },
  { name: 'GET', args: ['-t', 'get'] },
  { name: 'INCR', args: ['-t', 'incr'] },
  { name: 'LPUSH', args: ['-t', 'lpush'] },
  { name: 'SET, 16 at a time', args: ['-t', 'set', '-P', '16'] },
  { name: 'GET, 16 at a time', args: ['-t', 'get', '-P', '16'] },
] as const

interface Way {
  host: string
  port: number
  user: string
  password: string
}

/** A key-value store at the address of its private name beside Debian's redis-server with the same settings: `npm run bench key-value`. */
export async function run(): Promise<void> {
  if (Bun.which('redis-benchmark') === null || Bun.which('redis-server') === null)
    throw new Error('redis-server or redis-benchmark is not installed. apt-get install redis-server redis-tools')
  const platform = await startPlatform()
  const peer = await startPeer()
  try {
    const ours = await createStore(platform)
    for (const { name, args } of kinds)
      printRatio(name, await inTurns(ROUNDS, (whose) => measure(whose === 'ours' ? ours : peer.way, args)), GOAL)
  } finally {
    await peer.stop()
    await platform.close()
  }
}

async function createStore(platform: Platform): Promise<Way> {
  const store = await makeStore(platform, { name: 'bench', plan: PLAN })
  await store.isAvailable()
  return { ...store.address(), user: store.id, password: await store.password() }
}

async function startPeer(): Promise<{ way: Way; stop(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-bench-redis-'))
  const [port = 0] = freePorts(1)
  const mode = 'journal_snapshot'
  const passwords = { admin: PASSWORD, tenant: [PASSWORD] }
  const settings = { plan: PLAN, maxmemoryPolicy: 'allkeys_lru', persistenceMode: mode, laid: mode } as const
  await Bun.write(join(dir, 'redis.conf'), configFile({ ...settings, user: 'bench', passwords, hasOwnNetwork: false }))
  const server = spawnProcess(['redis-server', join(dir, 'redis.conf'), '--port', String(port), '--dir', dir], { stdout: 'ignore' })
  const ask = ['redis-cli', '-p', String(port), '--user', 'bench', '--pass', PASSWORD, '--no-auth-warning', 'PING']
  await until('redis-server answers', async () => (await runProcess(ask)).stdout.trim() === 'PONG')
  const release = confine(server.pid, keyValuePlans[PLAN].cpu)
  return {
    way: { host: '127.0.0.1', port, user: 'bench', password: PASSWORD },
    async stop() {
      server.kill('SIGKILL')
      await server.exited
      release()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function measure({ host, port, user, password }: Way, args: readonly string[]): Promise<number> {
  const to = ['-h', host, '-p', String(port), '--user', user, '-a', password]
  const { stdout, stderr } = await runProcess([
    'redis-benchmark',
    ...to,
    '--csv',
    '-n',
    String(REQUESTS),
    '-c',
    '50',
    '-r',
    '100000',
    ...args,
  ])
  const perSecond = Number(/^"[A-Z]+[^"]*","([\d.]+)"/m.exec(stdout)?.[1])
  if (!(perSecond > 0)) throw new Error(`redis-benchmark failed: ${stdout} ${stderr}`)
  return perSecond
}

if (import.meta.main) {
  await run()
  process.exit(0)
}
