import type { Disk, DiskSnapshot } from '../../shared/disk.ts'
import { call, type Reply } from './client.ts'
import type { TestServer } from './server.ts'
import { makeService, type TestService } from './service.ts'
import { until } from './until.ts'

/**
 * An app that keeps files on its disk: /make lays down a tree of many kinds, /hash tells all of it in one number, /fill writes until it
 * cannot, /where tells what it sees, /put?name=text writes a file, /get?name reads one.
 */
export const diskApp = {
  'server.js': `
    const { createServer } = require('node:http')
    const { createHash } = require('node:crypto')
    const fs = require('node:fs')
    const { join } = require('node:path')
    const root = process.env.CPD_DISK_PATH
    function make() {
      fs.mkdirSync(join(root, 'a/b'), { recursive: true, mode: 0o750 })
      fs.writeFileSync(join(root, 'a/run.sh'), '#!/bin/sh', { mode: 0o751 })
      fs.writeFileSync(join(root, 'a/secret'), Buffer.alloc(300000, 7), { mode: 0o400 })
      fs.symlinkSync('../a/secret', join(root, 'a/b/link'))
      fs.linkSync(join(root, 'a/secret'), join(root, 'a/b/hard'))
      const sparse = fs.openSync(join(root, 'sparse'), 'w')
      fs.writeSync(sparse, 'end', 50 * 1024 * 1024)
      fs.closeSync(sparse)
      fs.utimesSync(join(root, 'sparse'), 1000, 2000)
    }
    function hash() {
      const sum = createHash('sha256')
      const walk = (path) => {
        const stat = fs.lstatSync(join(root, path))
        sum.update(JSON.stringify([path, stat.mode, stat.uid, stat.gid, stat.nlink, stat.isDirectory() ? 0 : stat.size, stat.isDirectory() ? 0 : stat.mtimeMs, stat.blocks]))
        if (stat.isSymbolicLink()) sum.update(fs.readlinkSync(join(root, path)))
        else if (stat.isFile()) sum.update(fs.readFileSync(join(root, path)))
        else for (const name of fs.readdirSync(join(root, path)).sort()) walk(join(path, name))
      }
      walk('.')
      return sum.digest('hex')
    }
    function fill() {
      const file = fs.openSync(join(root, 'big'), 'w')
      let bytes = 0
      try {
        for (;;) bytes += fs.writeSync(file, Buffer.alloc(1024 * 1024, 1))
      } catch (error) {
        return error.code + ' ' + bytes
      } finally {
        fs.closeSync(file)
      }
    }
    const answers = {
      '/make': () => (make(), 'made'),
      '/hash': hash,
      '/fill': fill,
      '/empty': () => (fs.rmSync(join(root, 'big'), { force: true }), 'emptied'),
      '/where': () => JSON.stringify({ root, files: fs.readdirSync(root).sort(), uid: fs.statSync(root).uid, mode: fs.statSync(root).mode & 0o777 }),
      '/put': (query) => ([...query].forEach(([name, text]) => fs.writeFileSync(join(root, name), text)), 'put'),
      '/get': (query) => fs.readFileSync(join(root, [...query.keys()][0]), 'utf8'),
    }
    createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url, 'http://app')
      try {
        response.end((answers[pathname] ?? (() => process.env.CPD_DEPLOY_ID))(searchParams))
      } catch (error) {
        response.statusCode = 500
        response.end(String(error))
      }
    }).listen(process.env.PORT)
    process.on('SIGTERM', () => process.exit(0))`,
}

export interface TestDisk {
  id: string
  ask<T = Record<string, unknown>>(path?: string, options?: { method?: string; json?: unknown }): Promise<Reply<T>>
  read(): Promise<Disk>
  /** Waits until nothing is being done with it. */
  isAvailable(): Promise<Disk>
  snapshots(): Promise<DiskSnapshot[]>
  /** Takes a snapshot and waits until it is there, or has failed. */
  snapshot(): Promise<DiskSnapshot>
  restore(snapshotKey: string): Promise<void>
}

type Server = Pick<TestServer, 'url' | 'adminToken'>

export function diskOf({ url, adminToken: token }: Server, id: string): TestDisk {
  const ask: TestDisk['ask'] = (path = '', options = {}) => call(`${url}/v1/disks/${id}${path}`, { ...options, token })
  const disk: TestDisk = {
    id,
    ask,
    read: async () => (await ask<Disk>()).body,
    isAvailable: () =>
      until('the disk is available', async () => {
        const now = await disk.read()
        return now.status === 'available' && now
      }),
    snapshots: async () => (await ask<DiskSnapshot[]>('/snapshots')).body,
    snapshot: async () => {
      const { snapshotKey } = (await ask<DiskSnapshot>('/snapshots', { method: 'POST' })).body
      return await until('the snapshot is there', async () => {
        const made = (await disk.snapshots()).find((one) => one.snapshotKey === snapshotKey)
        return made !== undefined && made.status !== 'creating' && made
      })
    },
    restore: async (snapshotKey) => {
      const reply = await ask('/snapshots/restore', { method: 'POST', json: { snapshotKey } })
      if (reply.status !== 200) throw new Error(`Not restored: ${JSON.stringify(reply.body)}`)
      await disk.isAvailable()
    },
  }
  return disk
}

/** A service that was made with a disk of one GB, and the disk. */
export async function makeServiceWithDisk(
  server: Server,
  name: string,
  { mountPath = '/var/data', ...details }: Record<string, unknown> = {},
): Promise<{ service: TestService; disk: TestDisk }> {
  const serviceDetails = { ...details, disk: { name: 'data', mountPath, sizeGB: 1 } }
  const service = await makeService(server, { name, serviceDetails })
  const { body } = await service.ask<{ serviceDetails: { disk: { id: string } } }>('')
  return { service, disk: diskOf(server, body.serviceDetails.disk.id) }
}
