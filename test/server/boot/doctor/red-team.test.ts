import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TryResult } from '../../../../server/boot/doctor/red-team/attempt.ts'
import type { Targets } from '../../../../server/boot/doctor/red-team/targets.ts'
import { tryEverything } from '../../../../server/boot/doctor/red-team/try-everything.ts'
import { readStat } from '../../../../server/engines/process/kernel/proc.ts'
import { runProcess, type SpawnedProcess, spawnProcess } from '../../../../server/platform/process/spawn.ts'

/** An ordinary user: root would really do to this machine what it tries. */
const USER = 61_950
const asUser = ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all']
const env = { PATH: `/usr/bin:/bin:${dirname(process.execPath)}`, BUN_BE_BUN: '1' }

let dir: string
let targets: Targets
let results: TryResult[]
let neighbour: SpawnedProcess
const servers: Server[] = []

/** Files and processes of the user's own: what never succeeds anywhere would prove nothing where it fails. */
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'red-team-'))
  const [file, folder, socket] = [join(dir, 'file'), join(dir, 'folder'), join(dir, 'socket')]
  writeFileSync(file, 'content')
  mkdirSync(folder)
  writeFileSync(join(folder, 'another'), '')
  const port = portOf(await listen({ host: '127.0.0.1', port: 0 }))
  await listen({ path: socket })
  for (const path of [dir, file, folder, socket]) chownSync(path, USER, USER)
  neighbour = spawnProcess([...asUser, 'sleep', '1000'], { cwd: dir, env })
  const listener = { what: 'a listener', host: '127.0.0.1', port }
  targets = {
    controlFiles: [file],
    neighbourFiles: [file],
    folders: [{ path: folder, ownNames: [] }],
    writable: [file, folder],
    processes: [{ what: 'the neighbour', pid: neighbour.pid, startTicks: readStat(neighbour.pid)?.startTicks ?? -1 }],
    processNamespace: readlinkSync('/proc/self/ns/pid'),
    sockets: [socket],
    listeners: [listener],
    neighbourListeners: [listener],
    names: [{ name: 'localhost', port }],
    neighbourTmpFiles: [file],
  }
  results = await tryAsUser()
})

afterAll(async () => {
  for (const server of servers) server.close()
  neighbour.kill('SIGKILL')
  await neighbour.exited
  rmSync(dir, { recursive: true, force: true })
})

async function tryAsUser(): Promise<TryResult[]> {
  const entry = join(import.meta.dirname, 'red-team-child.ts')
  const built = await Bun.build({ entrypoints: [entry], target: 'bun', outdir: dir, naming: 'red-team.js' })
  expect(built.success).toBe(true)
  const command = [process.execPath, join(dir, 'red-team.js'), JSON.stringify(targets)]
  const { exitCode, stdout, stderr } = await runProcess([...asUser, ...command], { cwd: dir, env: { ...env, TMPDIR: dir } })
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return JSON.parse(stdout) as TryResult[]
}

function listen(where: { path: string } | { host: string; port: number }): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  servers.push(server)
  return new Promise((resolve) => server.listen(where, () => resolve(server)))
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

test.each([
  'read-control-plane',
  'read-neighbour',
  'list-folders',
  'write-files',
  'read-tmp',
  'see-processes',
  'read-processes',
  'trace-processes',
  'signal-processes',
  'reach-control-sockets',
  'reach-machine',
  'reach-neighbour',
  'reach-names',
  'forbidden-calls',
  'user-namespaces',
])('%s succeeds where nothing stands in its way', (id) => {
  expect(results.find((one) => one.id === id)?.succeeded).not.toEqual([])
})

test.each(['read-shadow', 'read-devices', 'mount', 'change-kernel', 'raise-priority', 'bind-privileged', 'leave-groups'])(
  '%s fails for an ordinary user',
  (id) => {
    expect(results.find((one) => one.id === id)).toMatchObject({ succeeded: [] })
  },
)

test('what was read is not told, only that it was', () => {
  expect(results.find(({ id }) => id === 'read-neighbour')?.succeeded).toEqual([`${join(dir, 'file')}: read 7 bytes`])
})

test('files and folders are as they were before', () => {
  expect(readFileSync(join(dir, 'file'), 'utf8')).toBe('content')
  expect(readdirSync(join(dir, 'folder'))).toEqual(['another'])
  expect(readdirSync(dir).sort()).toEqual(['file', 'folder', 'red-team.js', 'socket'])
})

test('as root it tries nothing, and says that it is', async () => {
  expect(await tryEverything(targets)).toMatchObject([{ id: 'run-as-root', succeeded: [expect.any(String)] }])
})
