import { Database } from 'bun:sqlite'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pathsOf, servicePathsOf } from '../../../../server/platform/paths.ts'
import { packApp } from '../../../support/apps.ts'
import { type ControlPlane, startControlPlane } from '../../../support/control-plane.ts'
import { processesOf } from '../../../support/leftovers.ts'
import { servicesOn } from '../../../support/plane-services.ts'
import { pidsWith } from '../../../support/shell.ts'
import { until } from '../../../support/until.ts'

let plane: ControlPlane
const services = servicesOn(() => plane)
const { now } = services
beforeAll(async () => {
  plane = await startControlPlane({ CP_HEALTH_TIMEOUT_SECONDS: '20', CP_DRAIN_SECONDS: '30' })
})
afterAll(async () => {
  await services.removeAll()
  const ours = new Set([plane.ingress.pid])
  const strays = processesOf(plane.dataDir).filter((pid) => !ours.has(pid))
  // The control plane itself, and nothing else.
  expect(strays).toHaveLength(1)
  await plane.close()
})

const visit = ({ name }: { name: string }, path = '/') => plane.ingress.visit(`${name}.localhost`, path)
const own = (service: { id: string }) => servicePathsOf(pathsOf(plane.dataDir), service.id)

const make = (name: string, serviceDetails: Record<string, unknown> = {}) => services.make(name, { serviceDetails })

/** Kills the control plane, sees that apps go on without it, and starts another. */
async function killAndStart(service: { name: string }, served?: string): Promise<void> {
  await plane.kill()
  if (served !== undefined) expect(await visit(service)).toEqual({ status: 200, text: served })
  await plane.start()
}

const build = (command: string) => ({
  'package.json': JSON.stringify({ name: 'built', scripts: { build: command, start: 'node server.js' } }),
})
/** Becomes healthy only when a file says so. */
const gated = {
  'server.js': `
    const { existsSync, writeFileSync } = require('node:fs')
    writeFileSync(process.env.HOME + '/started', '')
    const server = require('node:http').createServer((_, response) => response.end('gated\\n'))
    const look = setInterval(() => {
      if (!existsSync(process.env.HOME + '/go')) return
      clearInterval(look)
      server.listen(process.env.PORT, '127.0.0.1')
    }, 20)
    process.on('SIGTERM', () => process.exit(0))`,
}

describe('a control plane that is killed', () => {
  test('at rest leaves everything running, and the next one takes it over as it is', async () => {
    const service = await make('rest')
    await service.goLive('hello-js')
    const before = await service.settles('running')
    await killAndStart(service, 'hello-js 1\n')
    expect(await now(service).instances()).toEqual(before)
    expect((await visit(service)).text).toBe('hello-js 1\n')
  })

  test('during a build has the next one build anew, and no build of the first goes on', async () => {
    const service = await make('build')
    await service.goLive('hello-js', { VERSION: 'old' })
    const deployId = await service.upload('hello-js', { VERSION: 'new', ...build('echo begun >> $HOME/builds && sleep 1') })
    await until('the build runs', () => existsSync(join(own(service).home, 'builds')))
    await killAndStart(service, 'hello-js old\n')
    expect((await now(service).ends(deployId)).status).toBe('live')
    expect((await visit(service)).text).toBe('hello-js new\n')
    expect(await Bun.file(join(own(service).home, 'builds')).text()).toBe('begun\nbegun\n')
    await until('no build folder is left', () => readdirSync(own(service).builds).length === 0)
  })

  test('during a build that was canceled a moment before has the next one end it as such', async () => {
    const service = await make('canceled')
    const deployId = await service.upload('hello-js', build('touch $HOME/begun && sleep 60'))
    await until('the build runs', () => existsSync(join(own(service).home, 'begun')))
    // A control plane that dies between writing the cancel down and acting on it leaves this.
    await plane.kill()
    const db = new Database(pathsOf(plane.dataDir).controlDb)
    db.query('UPDATE deploys SET cancel_requested_at = 1 WHERE id = ?').run(deployId)
    db.close()
    await plane.start()
    expect(await now(service).ends(deployId)).toMatchObject({ status: 'canceled', reason: 'Canceled on request.' })
  })

  test('during a pre-deploy command leaves it going, and the next one waits for it and does not run it again', async () => {
    const preDeployCommand = 'echo begun >> $HOME/begun; until [ -e $HOME/word ]; do sleep 0.05; done'
    const service = await make('pre-deploy', { preDeployCommand })
    const deployId = await service.upload('hello-js')
    await until('the command runs', () => existsSync(join(own(service).home, 'begun')))
    await killAndStart(service)
    expect((await now(service).deploy(deployId)).status).toBe('pre_deploy_in_progress')
    await Bun.write(join(own(service).home, 'word'), '')
    expect((await now(service).ends(deployId)).status).toBe('live')
    expect(await Bun.file(join(own(service).home, 'begun')).text()).toBe('begun\n')
    const types = (await now(service).events()).map(({ type }) => type)
    expect(types.filter((type) => type.startsWith('pre_deploy'))).toHaveLength(2)
  })

  test('during a pre-deploy command that ends meanwhile has the next one take its end', async () => {
    const preDeployCommand = 'echo begun >> $HOME/begun; until [ -e $HOME/word ]; do sleep 0.05; done; echo over >> $HOME/begun; exit 7'
    const service = await make('pre-deploy-fails', { preDeployCommand })
    const deployId = await service.upload('hello-js')
    await until('the command runs', () => existsSync(join(own(service).home, 'begun')))
    await plane.kill()
    await Bun.write(join(own(service).home, 'word'), '')
    await until('it is over', async () => (await Bun.file(join(own(service).home, 'begun')).text()).endsWith('over\n'))
    await plane.start()
    expect(await now(service).ends(deployId)).toMatchObject({
      status: 'pre_deploy_failed',
      reason: 'The pre-deploy command exited with 7; see the build log.',
    })
    expect(await Bun.file(join(own(service).home, 'begun')).text()).toBe('begun\nover\n')
  })

  test('during a pre-deploy command can still have it canceled by the next', async () => {
    const service = await make('pre-deploy-canceled', { preDeployCommand: 'touch $HOME/begun; exec sleep 987.25' })
    const deployId = await service.upload('hello-js')
    await until('the command runs', () => existsSync(join(own(service).home, 'begun')))
    await killAndStart(service)
    expect(pidsWith('987.25')).not.toEqual([])
    await now(service).ask(`/deploys/${deployId}/cancel`, { method: 'POST' })
    expect(await now(service).ends(deployId)).toMatchObject({ status: 'canceled', reason: 'Canceled on request.' })
    expect(pidsWith('987.25')).toEqual([])
  })

  test('during an update has the next one wait for the same instance, and switch to it', async () => {
    const service = await make('update')
    await service.goLive('hello-js', { VERSION: 'old' })
    const deployId = await service.upload('hello-js', gated)
    await service.reaches(deployId, 'update_in_progress')
    const [, candidate] = await service.settles('running', 'starting')
    await until('its process runs', () => existsSync(join(own(service).home, 'started')))
    await killAndStart(service, 'hello-js old\n')
    expect((await now(service).deploy(deployId)).status).toBe('update_in_progress')
    await Bun.write(join(own(service).home, 'go'), '')
    expect((await now(service).ends(deployId)).status).toBe('live')
    expect((await visit(service)).text).toBe('gated\n')
    expect(await now(service).settles('running')).toEqual([{ ...candidate, status: 'running' }])
  })

  test('during a drain loses no request that is still being answered', async () => {
    const service = await make('drain')
    const slow = {
      'server.js': `require('node:http').createServer((request, response) => setTimeout(() => response.end('slow'), request.url === '/slow' ? 2000 : 0)).listen(process.env.PORT, '127.0.0.1')`,
    }
    await service.goLive('hello-js', slow)
    const answer = visit(service, '/slow')
    await service.goLive('hello-js', { VERSION: 'new' })
    await service.settles('draining', 'running')
    await killAndStart(service, 'hello-js new\n')
    expect(await answer).toEqual({ status: 200, text: 'slow' })
    await now(service).settles('running')
  })

  test('while an app dies has the next one start it again', async () => {
    const service = await make('dies')
    const mortal = {
      'server.js': `require('node:http').createServer((request, response) => request.url === '/die' ? process.exit(3) : response.end('alive')).listen(process.env.PORT, '127.0.0.1')`,
    }
    await service.goLive('hello-js', mortal)
    await plane.kill()
    await visit(service, '/die')
    await plane.start()
    await until('it serves again', async () => (await visit(service)).text === 'alive')
    expect((await now(service).instances())[0]?.restarts).toBe(1)
  })

  test('during an upload leaves nothing of it', async () => {
    const service = await make('upload')
    const archive = await packApp('hello-js')
    const { uploads } = pathsOf(plane.dataDir)
    const body = new ReadableStream({ start: (controller) => controller.enqueue(archive.slice(0, 100)) })
    const cut = new AbortController()
    const sending = fetch(`${plane.url}/v1/services/${service.id}/source/upload`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${plane.adminToken}`, 'content-type': 'application/gzip' },
      signal: cut.signal,
    }).catch(() => 'broken')
    await until('the upload has begun', () => readdirSync(uploads).length > 0)
    await plane.kill()
    cut.abort()
    expect(await sending).toBe('broken')
    await plane.start()
    expect(readdirSync(uploads)).toEqual([])
    expect((await now(service).ask<unknown[]>('/deploys')).body).toEqual([])
  })
})

describe('a control plane that is stopped', () => {
  test('during an update and a drain ends soon, and the next one goes on', async () => {
    const service = await make('stops')
    await service.goLive('ignores-sigterm')
    await service.goLive('hello-js', { VERSION: 'old' })
    const deployId = await service.upload('hello-js', gated)
    await service.reaches(deployId, 'update_in_progress')
    expect(await plane.stop()).toBe(0)
    await plane.start()
    await Bun.write(join(own(service).home, 'go'), '')
    expect((await now(service).ends(deployId)).status).toBe('live')
  })

  test('has logged no error of its own through all of this', () => {
    const errors = plane
      .logged()
      .split('\n')
      .filter((line) => line.includes('"level":"error"'))
    expect(errors).toEqual([])
  })
})
