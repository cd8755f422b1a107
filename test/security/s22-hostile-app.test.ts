import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { servicePathsOf } from '../../server/paths.ts'
import { createService, deployApp, packApp } from '../support/apps.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'

const planted = { env: 'pLaNtEd-env-5b1f', file: 'pLaNtEd-file-77aa', code: 'pLaNtEd-code-c0de', log: 'pLaNtEd-log-1066' }
const plantedForm = /pLaNtEd/

let platform: Platform
let victim: { id: string; pid: number }
let targets: { read: string[]; list: string[]; write: string[]; sockets: string[]; pids: string[]; signalPids: string[] }
let hostileId: string
let report: Report

interface Attempt {
  succeeded: boolean
  got?: string
  error?: string
}
type Attempts = Record<string, Attempt>

interface Report {
  pid: number
  uid: number
  status: Attempt
  read: Attempts
  list: Attempts
  write: Attempts
  sockets: Attempts
  seenPids: Attempt
  environOfOthers: Attempts
  cmdlineOfOthers: Attempts
  rootOfOthers: Attempts
  signals: Attempts
  lowPort: Attempt
  setuid: Attempt
  su: Attempt
  mount: Attempt
  linkOut: Attempt
}

const succeeded = (attempts: Attempts): string[] => Object.entries(attempts).flatMap(([target, one]) => (one.succeeded ? [target] : []))

/** Below /tmp a workload has another /tmp in its place; where an installed server keeps its data, permissions alone must do. */
describe.each([tmpdir(), '/var/lib'])('with the data directory below %s', (parent) => {
  beforeAll(async () => {
    platform = await startPlatform({}, { parent })
    victim = await deployVictim()
    targets = targetsOf(victim)
    hostileId = await createService(platform, { name: 'hostile', envVars: [{ key: 'OWN', value: 'own' }] })
    await deployApp(platform, hostileId, await packApp('hostile'))
    const query = new URLSearchParams(Object.entries(targets).map(([name, values]): [string, string] => [name, values.join(',')]))
    const reply = await platform.ingress.visit('hostile.localhost', `/report?${query}`)
    expect(reply.status).toBe(200)
    report = JSON.parse(reply.text) as Report
  })
  afterAll(() => platform.close())

  test('S22: the targets are really there', () => {
    expect(targets.read).toContain(platform.context.paths.masterKey)
    expect(targets.read.some((path) => path.endsWith('control.db'))).toBe(true)
    expect(targets.read.some((path) => path.endsWith('/secret.txt'))).toBe(true)
    expect(targets.read.some((path) => path.endsWith('/private.txt'))).toBe(true)
    expect(targets.read.some((path) => path.includes('/output/'))).toBe(true)
    expect(targets.read.some((path) => path.includes('/sources/'))).toBe(true)
  })

  test("S22: a hostile app reads no file of the control plane, nor another service's code, secret files, logs or sources", () => {
    expect(Object.keys(report.read).length).toBe(new Set(targets.read).size)
    expect(succeeded(report.read)).toEqual([])
    expect(report.linkOut).toMatchObject({ succeeded: false })
  })

  test('S22: it lists none of their folders with anything in them', () => {
    const { data, services } = platform.context.paths
    // Where these two are rebuilt in a /tmp of its own, they hold the way to its own folders and nothing else.
    const ownWay: Record<string, string> = { [data]: 'services toolchain', [services]: hostileId }
    const seen = Object.entries(report.list).filter(([path, one]) => one.succeeded && one.got !== '' && one.got !== ownWay[path])
    expect(seen).toEqual([])
  })

  test('S22: it writes to none of them', () => {
    expect(succeeded(report.write)).toEqual([])
  })

  test('S22: it reads no environment, command line or root of another process', () => {
    const uidOf = (pid: string) => Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    // Those it can read are of its own user: the shell that started it.
    expect(succeeded(report.environOfOthers).filter((pid) => uidOf(pid) !== report.uid)).toEqual([])
    expect(Object.keys(report.environOfOthers)).toEqual(expect.arrayContaining(targets.pids))
    expect(succeeded(report.cmdlineOfOthers)).toEqual([])
    expect(succeeded(report.rootOfOthers)).toEqual([])
    expect(JSON.stringify(report)).not.toMatch(plantedForm)
  })

  test('S22: it signals no other process, the control plane and the ingress included', () => {
    expect(Object.keys(report.signals)).toEqual(
      expect.arrayContaining([String(victim.pid), String(process.pid), String(platform.ingress.pid)]),
    )
    expect(succeeded(report.signals)).toEqual([])
  })

  test('S22: it reaches no control socket', () => {
    expect(Object.keys(report.sockets)).toEqual([platform.context.paths.ingressSocket])
    expect(succeeded(report.sockets)).toEqual([])
  })

  test('S22: it binds no privileged port, gains no privilege and mounts nothing', () => {
    expect(report.uid).toBeGreaterThan(100_000)
    expect(report.status.got).toMatch(/CapEff:\s+0+ CapBnd:\s+0+ NoNewPrivs:\s+1/)
    for (const one of [report.lowPort, report.setuid, report.su, report.mount]) expect(one).toMatchObject({ succeeded: false })
  })

  test('S22: a hostile build learns and ends nothing either', async () => {
    const files = targets.read.filter((path) => !path.includes(' '))
    const command = [
      `cat ${files.join(' ')} | strings 2>&1`,
      `ls -laR ${platform.context.paths.services} ${platform.context.paths.data}`,
      `kill -9 ${targets.pids.join(' ')}`,
      'env',
    ]
    const id = await createService(platform, {
      name: 'hostile-build',
      serviceDetails: { envSpecificDetails: { buildCommand: `(${command.join('; ')}) 2>&1; echo tried everything` } },
    })
    await deployApp(platform, id, await packApp('hello-js'))
    const text = await logsOf(id)
    expect(text).toContain('tried everything')
    expect(text).not.toMatch(plantedForm)
    expect(text).not.toMatch(new RegExp(`^[d-]r.*${victim.id}`, 'm'))
    expect(text).not.toContain(platform.adminToken)
    expect(text).not.toMatch(/SQLite format/)
  })

  test('S22: the neighbours go on serving, as the same processes', async () => {
    expect(await platform.ingress.visit('victim.localhost')).toMatchObject({ status: 200, text: 'hello-js 1\n' })
    const { body } = await call<{ restarts: number; status: string }[]>(`${platform.url}/v1/services/${victim.id}/instances`, {
      token: platform.adminToken,
    })
    expect(body).toMatchObject([{ status: 'running', restarts: 0 }])
  })
})

async function deployVictim(): Promise<{ id: string; pid: number }> {
  const id = await createService(platform, {
    name: 'victim',
    envVars: [{ key: 'SECRET', value: planted.env }],
    secretFiles: [{ name: 'secret.txt', content: planted.file }],
    serviceDetails: { envSpecificDetails: { startCommand: `echo ${planted.log}; exec node server.js` } },
  })
  await deployApp(platform, id, await packApp('hello-js', { 'private.txt': planted.code }))
  const instances = await call<{ id: string }[]>(`${platform.url}/v1/services/${id}/instances`, { token: platform.adminToken })
  const state = await platform.context.engine.inspect(instances.body[0]?.id ?? '')
  if (state?.status !== 'running') throw new Error('The victim does not run')
  return { id, pid: state.pid }
}

const filesIn = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  )

function targetsOf({ id, pid }: { id: string; pid: number }): typeof targets {
  const { paths } = platform.context
  const own = servicePathsOf(paths, id)
  const ours = [paths.masterKey, ...[paths.db, paths.run, paths.uploads].flatMap(filesIn)]
  const theirs = [own.releases, own.secrets, own.output, own.sources, own.home, own.tmp].flatMap(filesIn)
  const pids = [pid, process.pid, platform.ingress.pid, 1].map(String)
  return {
    read: [
      ...ours,
      ...theirs,
      '/etc/shadow',
      ...pids.flatMap((one) => [`/proc/${one}/environ`, `/proc/${one}/maps`, `/proc/${one}/root/etc/shadow`]),
    ],
    list: [paths.data, paths.db, paths.run, paths.uploads, paths.services, ...Object.values(own), '/root', '/proc/1/fd'],
    write: [
      paths.masterKey,
      paths.controlDb,
      paths.routesFile,
      join(own.home, 'x'),
      join(own.tmp, 'x'),
      join(paths.toolchain, 'bun'),
      join(paths.data, 'x'),
      '/etc/x',
      ...pids.map((one) => `/proc/${one}/mem`),
    ],
    sockets: [paths.ingressSocket],
    pids,
    signalPids: pids,
  }
}

async function logsOf(serviceId: string): Promise<string> {
  const read = async () => {
    const path = `${platform.url}/v1/logs?resource=${serviceId}&limit=100&direction=backward`
    const { body } = await call<{ logs: { message: string }[] }>(path, { token: platform.adminToken })
    return body.logs.map(({ message }) => message).join('\n')
  }
  await expect.poll(read, { timeout: 10_000 }).toContain('tried everything')
  const everything = await call<{ logs: { message: string }[] }>(
    `${platform.url}/v1/logs?resource=${serviceId}&limit=100&direction=forward`,
    { token: platform.adminToken },
  )
  return [await read(), ...everything.body.logs.map(({ message }) => message)].join('\n')
}
