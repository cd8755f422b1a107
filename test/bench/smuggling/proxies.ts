import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type SpawnedProcess, spawnProcess } from '../../../server/platform/process/spawn.ts'
import { proxyTo, startWorld } from '../../server/ingress/world.ts'
import { freePorts } from '../../support/free-ports.ts'

export interface Candidate {
  name: string
  port: number
  stop(): Promise<void>
}

interface Place {
  dir: string
  upstreamPort: number
}

/** Each is told to give up early what does not go on; all else is as people run them. */
export const proxies: Record<string, (place: Place) => Promise<Candidate>> = { ingress, haproxy, nginx, caddy }

const PATIENCE_MS = 400

async function ingress({ upstreamPort }: Place): Promise<Candidate> {
  const patience = { headTimeoutMs: PATIENCE_MS, bodyIdleMs: PATIENCE_MS, keepAliveMs: PATIENCE_MS, upstreamIdleMs: PATIENCE_MS }
  const world = await startWorld({ limits: { ...patience, lingerMs: 100 } })
  await world.publish({ 'a.test': proxyTo(upstreamPort) })
  return { name: 'ingress', port: world.port, stop: () => world.close() }
}

async function haproxy({ dir, upstreamPort }: Place): Promise<Candidate> {
  const port = freePort()
  const config = `defaults
  mode http
  option forwardfor
  http-reuse always
  timeout connect ${PATIENCE_MS}ms
  timeout client ${PATIENCE_MS}ms
  timeout server ${PATIENCE_MS}ms
  timeout http-request ${PATIENCE_MS}ms
  timeout http-keep-alive ${PATIENCE_MS}ms
frontend f
  bind 127.0.0.1:${port}
  default_backend b
backend b
  server s 127.0.0.1:${upstreamPort}
`
  const path = fileOf(dir, 'haproxy.cfg', config)
  return started('haproxy', port, [programOf('haproxy'), '-f', path])
}

async function nginx({ dir, upstreamPort }: Place): Promise<Candidate> {
  const port = freePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `  ${name}_temp_path ${join(dir, name)};`)
  const config = `daemon off;
worker_processes 1;
pid ${join(dir, 'nginx.pid')};
error_log ${join(dir, 'nginx.log')};
events { worker_connections 1024; }
http {
  access_log off;
  client_header_timeout ${PATIENCE_MS}ms;
  client_body_timeout ${PATIENCE_MS}ms;
  keepalive_timeout ${PATIENCE_MS}ms;
  proxy_read_timeout ${PATIENCE_MS}ms;
  lingering_timeout ${PATIENCE_MS}ms;
${temporary.join('\n')}
  upstream b { server 127.0.0.1:${upstreamPort} max_fails=0; keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://b;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
    }
  }
}
`
  const path = fileOf(dir, 'nginx.conf', config)
  return started('nginx', port, [programOf('nginx'), '-p', dir, '-e', join(dir, 'nginx.log'), '-c', path])
}

async function caddy({ dir, upstreamPort }: Place): Promise<Candidate> {
  const port = freePort()
  const config = `{
  admin off
  auto_https off
  servers {
    timeouts {
      read_header ${PATIENCE_MS}ms
      read_body ${PATIENCE_MS}ms
      idle ${PATIENCE_MS}ms
    }
  }
}
http://:${port} {
  reverse_proxy 127.0.0.1:${upstreamPort}
}
`
  const path = fileOf(dir, 'Caddyfile', config)
  const env = { HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir }
  return started('caddy', port, [programOf('caddy'), 'run', '--adapter', 'caddyfile', '--config', path], env)
}

function freePort(): number {
  const [port] = freePorts(1)
  if (port === undefined) throw new Error('There is no free port')
  return port
}

function programOf(name: string): string {
  const path = Bun.which(name) ?? Bun.which(`/usr/sbin/${name}`)
  if (path === null) throw new Error(`${name} is not installed. apt-get install haproxy nginx caddy`)
  return path
}

function fileOf(dir: string, name: string, text: string): string {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, name), text)
  return join(dir, name)
}

async function started(name: string, port: number, argv: string[], env: Record<string, string> = {}): Promise<Candidate> {
  const child: SpawnedProcess = spawnProcess(argv, { env })
  for (let attempt = 0; attempt < 200; attempt++) {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { host: 'a.test' } }).catch(() => undefined)
    await answer?.text()
    if (answer?.ok) return { name, port, stop: () => end(child) }
    await Bun.sleep(25)
  }
  await end(child)
  throw new Error(`${name} does not answer at port ${port}`)
}

/** In order, so that workers go as well. */
async function end(child: SpawnedProcess): Promise<void> {
  child.kill('SIGTERM')
  await child.exited
}
