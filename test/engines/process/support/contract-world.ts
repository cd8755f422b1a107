import { createHash } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { placeOnMachine } from '../../../../server/engines/process/placing/engine.ts'
import { noQuota } from '../../../../server/engines/process/quota/quota.ts'
import { openVolumes } from '../../../../server/engines/process/volumes/volumes.ts'
import { outputFileIn, pathsOf, servicePathsOf } from '../../../../server/platform/paths.ts'
import { releaseFolder } from '../../../../server/runtime/artifacts/release-folders.ts'
import type { Act, ContractWorld } from '../../world.ts'
import { ampleRoom } from '../volumes/world.ts'
import type { EngineFactory } from './processes.ts'
import { makeWorld } from './world.ts'

const FIRST_NUMBER = 61_000
const limits = { cpu: 1, memoryBytes: 64 * 1024 * 1024, pids: 40 }
const artifact = createHash('sha256').update('nothing').digest('hex')
const isRoot = process.getuid?.() === 0

/** The world of the contract on this machine: acts are lines of a shell. */
export function makeShellWorld(factory: EngineFactory): ContractWorld {
  const world = makeWorld()
  const paths = pathsOf(join(world.dir, 'data'))
  for (const dir of [paths.data, paths.services]) mkdirSync(dir, { mode: 0o711 })
  const numbers = new Map<string, number>()
  let count = 0
  const ownerOf = (ownerId: string) => {
    const number = numbers.get(ownerId) ?? FIRST_NUMBER + numbers.size
    if (!numbers.has(ownerId)) layArtifact(servicePathsOf(paths, ownerId), number)
    numbers.set(ownerId, number)
    return { id: ownerId, number }
  }
  const workload = (acts: readonly Act[], outputName: string) => ({
    owner: ownerOf('srv-one'),
    files: { artifact },
    command: commandOf(acts),
    env: () => ({ PATH: '/usr/local/bin:/usr/bin:/bin' }),
    limits,
    network: { name: 'wsp-one' },
    stack: { kind: 'host' as const, folders: [], searchPath: [] },
    outputName,
  })
  const instance: ContractWorld['instance'] = (acts, changes = {}) => {
    const instanceId = `srv-one-${++count}`
    return { ...workload(acts, instanceId), instanceId, deployId: 'dep-one', listens: { preferredPort: 10_000 }, ...changes }
  }
  return {
    open: async () =>
      placeOnMachine(await factory(world), {
        paths,
        artifact: (ownerId, digest) => releaseFolder(paths, ownerId, digest),
        material: (name) => join(paths.backups, 'restores', name),
        programs: (name) => layPrograms(join(paths.engines, name)),
        volumes: openVolumes({ dir: paths.disks, mounts: 'folders', needed: [], room: ampleRoom }),
        quota: noQuota('a test limits nobody'),
      }),
    instance,
    task: (acts) => {
      const { listens: _, ...spec } = instance(acts)
      return { ...spec, runs: 'once' }
    },
    terminal: (acts, changes) => {
      const { outputName: terminalId, ...spec } = workload(acts, `shl-${++count}`)
      return { ...spec, terminalId, columns: 80, rows: 24, ...changes }
    },
    asService: (spec, ownerId) => ({ ...spec, owner: ownerOf(ownerId) }),
    output: ({ owner, outputName }) => {
      const path = outputFileIn(servicePathsOf(paths, owner.id), outputName)
      return existsSync(path) ? readFileSync(path, 'utf8') : ''
    },
    dispose: world.dispose,
  }
}

/** Files of a release that has none. */
function layArtifact({ root, releases }: { root: string; releases: string }, number: number): void {
  const dir = join(releases, artifact)
  mkdirSync(dir, { recursive: true, mode: 0o750 })
  if (isRoot) for (const one of [root, releases, dir]) chownSync(one, 0, number)
}

function layPrograms(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  return folder
}

const commandOf = (acts: readonly Act[]): string => acts.map(lineOf).join('\n') || 'true'

const LINES: Record<Extract<Act, string>, string> = {
  printenv: 'env -0',
  polite: "trap 'echo bye; exit 0' TERM",
  deaf: "trap '' TERM",
  serve: 'while :; do sleep 0.05; done',
  echo: 'exec cat',
}

const ANSWERING = "require('net').createServer((socket) => socket.end(process.argv[1])).listen(process.env.PORT ?? 10000)"

const ASKING = `
  const [name, isOnce] = process.argv.slice(1)
  let before = ''
  const told = (answer) => {
    const line = name + ': ' + (answer || 'nobody')
    if (line !== before) console.log(line)
    before = line
    if (!isOnce) setTimeout(ask, 20)
  }
  const ask = () => {
    let text = ''
    const socket = require('net').connect({ host: name, port: 10000, family: 4 })
    socket.on('data', (bytes) => { text += bytes }).on('error', () => {}).on('close', () => told(text))
  }
  ask()
`

function lineOf(act: Act): string {
  if (typeof act === 'string') return LINES[act]
  if ('print' in act) return `echo ${act.print}`
  if ('use' in act) return `node -e "Buffer.alloc(${act.use.megabytes}e6, 1); while (process.cpuUsage().user < ${act.use.cpuSeconds}e6);"`
  if ('waitMs' in act) return `sleep ${act.waitMs / 1000}`
  if ('answer' in act) return `node -e "${ANSWERING}" ${act.answer} &`
  if ('ask' in act) return `node -e "${ASKING}" ${act.ask} once`
  if ('watch' in act) return `node -e "${ASKING}" ${act.watch}`
  if ('exit' in act) return `exit ${act.exit}`
  return `kill -${act.die.slice('SIG'.length)} $$`
}
