import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { echo, h2load, handshakes, type LoadResult, wrk } from './loads.ts'
import { hostsScriptOf } from './own.ts'
import type { Contender } from './peers.ts'
import { LARGE_BYTES, STATIC_HOST, type World } from './world.ts'

export interface Scenario {
  name: string
  /** Names of the proxies that take part. */
  proxies: readonly string[]
  run(world: World, proxy: Contender, seconds: number): Promise<LoadResult>
}

const ALL = ['ingress', 'haproxy', 'nginx', 'caddy']
const UPLOAD_CONNECTIONS = 16

const keepAlive = (connections: number): Scenario => ({
  name: `HTTP/1.1 keep-alive, ${connections} connections`,
  proxies: ALL,
  run: (world, { http }, seconds) => wrk(world, { url: `http://127.0.0.1:${http}/`, connections, seconds }),
})

const tlsKeepAlive = (connections: number): Scenario => ({
  name: `TLS keep-alive, ${connections} connections`,
  proxies: ALL,
  run: (world, { https }, seconds) => wrk(world, { url: `https://127.0.0.1:${https}/`, connections, seconds }),
})

const hosts = (name: string, count: string): Scenario => ({
  name: `HTTP/1.1 keep-alive, 64 connections, each request to one of ${count} hosts`,
  proxies: [name],
  run: (world, { http }, seconds) =>
    wrk(world, { url: `http://127.0.0.1:${http}/`, connections: 64, seconds, script: hostsScriptOf(world, name) }),
})

const file = (path: string, title: string): Scenario => ({
  name: `static file of ${title}, 64 connections`,
  proxies: ['ingress', 'nginx'],
  run: (world, { http }, seconds) =>
    wrk(world, { url: `http://127.0.0.1:${http}/${path}`, connections: 64, seconds, script: staticScript(world) }),
})

/** In the order of the table. */
export const scenarios: readonly Scenario[] = [
  keepAlive(64),
  keepAlive(256),
  tlsKeepAlive(64),
  tlsKeepAlive(256),
  {
    name: 'HTTP/2, 16 clients × 10 streams',
    proxies: ALL,
    run: (world, { https }, seconds) => h2load(world, { port: https, clients: 16, streams: 10, seconds }),
  },
  {
    name: 'full TLS handshake and a request, 200 connections at once',
    proxies: ALL,
    run: (world, { https }, seconds) => handshakes(world, { port: https, connections: 200, seconds }),
  },
  {
    name: 'answers of 1 MiB, 16 connections',
    proxies: ALL,
    run: (world, { http }, seconds) => wrk(world, { url: `http://127.0.0.1:${http}/large`, connections: 16, seconds }),
  },
  {
    name: 'uploads of 1 MiB, 16 connections',
    proxies: ALL,
    run: (world, { http }, seconds) =>
      wrk(world, { url: `http://127.0.0.1:${http}/`, connections: UPLOAD_CONNECTIONS, seconds, script: uploadScript(world) }),
  },
  {
    name: 'WebSocket echo of 64 B, 64 connections',
    proxies: ALL,
    run: (world, { http }, seconds) => echo(world, { port: http, connections: 64, seconds }),
  },
  file('small.txt', '1 KiB'),
  file('medium.css', '100 KiB'),
  file('large.bin', '1 MiB'),
  hosts('ingress-10-hosts', '10'),
  hosts('ingress-10000-hosts', '10,000'),
]

function uploadScript({ dir }: World): string {
  return scriptFile(dir, 'upload.lua', `wrk.method = "POST"\nwrk.body = string.rep("x", ${LARGE_BYTES})\n`)
}

function staticScript({ dir }: World): string {
  return scriptFile(dir, 'static.lua', `wrk.headers["Host"] = "${STATIC_HOST}"\n`)
}

function scriptFile(dir: string, name: string, text: string): string {
  const path = join(dir, name)
  writeFileSync(path, text)
  return path
}
