import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TryResult } from '../../server/boot/doctor/red-team/attempt.ts'
import type { Targets } from '../../server/boot/doctor/red-team/targets.ts'
import { readStat } from '../../server/engines/process/kernel/proc.ts'
import { servicePathsOf } from '../../server/platform/paths.ts'
import { createService, deployApp, packApp } from '../support/apps.ts'
import { call } from '../support/client.ts'
import { processOf } from '../support/instance-process.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { redTeamProgram } from '../support/red-team.ts'

const planted = { env: 'pLaNtEd-env-5b1f', file: 'pLaNtEd-file-77aa', code: 'pLaNtEd-code-c0de', log: 'pLaNtEd-log-1066' }
const plantedForm = /pLaNtEd/

let platform: Platform
let victim: { id: string; pid: number }
let targets: Targets
let report: { uid: number; tries: TryResult[] }

/** Below /tmp a workload has another /tmp in its place; where an installed server keeps its data, permissions alone must do. */
describe.each([tmpdir(), '/var/lib'])('with the data directory below %s', (parent) => {
  beforeAll(async () => {
    platform = await startPlatform({}, { parent })
    victim = await deployVictim()
    const hostileId = await createService(platform, {
      name: 'hostile',
      serviceDetails: { plan: 'standard', envSpecificDetails: { startCommand: 'exec bun server.js' } },
    })
    targets = targetsOf(victim, hostileId)
    await deployApp(platform, hostileId, await packApp('hostile', { 'red-team.mjs': await redTeamProgram() }))
    const reply = await fetch(`http://${platform.ingress.address}/report`, {
      method: 'POST',
      headers: { host: 'hostile.localhost' },
      body: JSON.stringify(targets),
    })
    expect(reply.status).toBe(200)
    report = (await reply.json()) as typeof report
  })
  afterAll(() => platform.close())

  test('S22: the targets are really there', () => {
    const files = [...targets.controlFiles, ...targets.neighbourFiles]
    expect(files).toContain(platform.context.paths.masterKey)
    for (const part of ['control.db', '/secret.txt', '/private.txt', '/output/', '/sources/']) {
      expect(files.filter((path) => path.includes(part))).not.toEqual([])
    }
    expect(targets.processes.every(({ startTicks }) => startTicks >= 0)).toBe(true)
  })

  test.each([
    ['reads no file of the control plane, through links neither, nor uncovers any', ['read-control-plane', 'unhide']],
    ["reads none of another service's code, secret files, logs or sources, nor its /tmp", ['read-neighbour', 'read-tmp']],
    ["reads none of the machine's secrets, disks or memory", ['read-shadow', 'read-devices']],
    ['lists none of their folders', ['list-folders']],
    ['writes to none of them', ['write-files']],
    [
      'sees, reads, traces and signals no other process',
      ['see-processes', 'read-processes', 'trace-processes', 'signal-processes', 'read-strangers'],
    ],
    ['reaches no control socket, nor the API', ['reach-control-sockets', 'reach-machine']],
    [
      'gains no privilege, mounts nothing and changes no setting of the kernel',
      ['gain-privileges', 'mount', 'change-kernel', 'raise-priority'],
    ],
    ['leaves no control group and raises no limit of its own', ['leave-groups']],
    ['listens at no privileged port', ['bind-privileged']],
  ])('S22: a hostile app %s', (_, ids) => {
    const tries = report.tries.filter(({ id }) => ids.includes(id))
    expect(tries.map(({ id }) => id).sort()).toEqual(ids.toSorted())
    for (const one of tries) expect(one).toMatchObject({ succeeded: [] })
    expect(tries.some(({ attempted }) => attempted > 0)).toBe(true)
  })

  test('S22: it learns nothing that was planted, and runs as a user of its own', () => {
    expect(JSON.stringify(report)).not.toMatch(plantedForm)
    expect(report.uid).toBeGreaterThan(100_000)
  })

  test('S22: a hostile build learns and ends nothing either', async () => {
    const files = [...targets.controlFiles, ...targets.neighbourFiles].filter((path) => !path.includes(' '))
    const command = [
      `cat ${files.join(' ')} | strings 2>&1`,
      `ls -laR ${platform.context.paths.services} ${platform.context.paths.data}`,
      `kill -9 ${targets.processes.map(({ pid }) => pid).join(' ')}`,
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
    serviceDetails: {
      envSpecificDetails: { startCommand: `echo ${planted.log}; echo ${planted.file} >/tmp/scratch; exec node server.js` },
    },
  })
  await deployApp(platform, id, await packApp('hello-js', { 'private.txt': planted.code }))
  const instances = await call<{ id: string }[]>(`${platform.url}/v1/services/${id}/instances`, { token: platform.adminToken })
  return { id, pid: processOf(platform.context.paths, instances.body[0]?.id ?? '').pid }
}

const filesIn = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  )

function targetsOf({ id, pid }: { id: string; pid: number }, hostileId: string): Targets {
  const { paths } = platform.context
  const own = servicePathsOf(paths, id)
  const folders = [paths.db, paths.run, paths.uploads, ...Object.values(own), '/root'].filter(existsSync)
  const identified = (what: string, of: number) => ({ what, pid: of, startTicks: readStat(of)?.startTicks ?? -1 })
  const controlFiles = [paths.masterKey, ...[paths.db, paths.run, paths.uploads].flatMap(filesIn)]
  const neighbourFiles = [own.releases, own.secrets, own.output, own.sources, own.home, own.tmp].flatMap(filesIn)
  return {
    controlFiles,
    neighbourFiles,
    folders: [
      ...folders.map((path) => ({ path, ownNames: [] })),
      // Where these two are rebuilt in a /tmp of its own, they hold the way to its own folders and nothing else.
      { path: paths.data, ownNames: ['services', 'toolchain'] },
      { path: paths.services, ownNames: [hostileId] },
    ],
    writable: [...controlFiles, ...neighbourFiles, ...folders, paths.data, paths.toolchain, join(paths.toolchain, 'bun')],
    processes: [
      identified('the neighbour', pid),
      identified('the control plane', process.pid),
      identified('the ingress', platform.ingress.pid),
      identified('the first process', 1),
    ],
    processNamespace: readlinkSync('/proc/self/ns/pid'),
    sockets: [paths.ingressSocket],
    listeners: [{ what: 'the API', host: '127.0.0.1', port: Number(new URL(platform.url).port) }],
    neighbourListeners: [],
    names: [],
    neighbourTmpFiles: filesIn(own.tmp).map((path) => join('/tmp', relative(own.tmp, path))),
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
