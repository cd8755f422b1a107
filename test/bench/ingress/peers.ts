import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, HOST, program, STATIC_HOST, type World } from './world.ts'

export interface Contender {
  name: string
  http: number
  https: number
  pid: number
}

/** The proxies people use, each with keep-alive to its upstream, HTTP/2 over TLS, and a line for each request. */
export const peers: readonly ((world: World) => Promise<Contender>)[] = [haproxy, nginx, caddy]

async function haproxy(world: World): Promise<Contender> {
  const ports = { http: freePort(), https: freePort() }
  const config = `global
  nbthread 1
  maxconn 8000
  log stdout format raw local0
defaults
  mode http
  log global
  option httplog
  option forwardfor
  http-reuse always
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  timeout tunnel 1h
frontend f
  bind 127.0.0.1:${ports.http}
  bind 127.0.0.1:${ports.https} ssl crt ${world.certificateFile}.both alpn h2,http/1.1
  default_backend b
backend b
  server s 127.0.0.1:${world.upstreamPort}
`
  const path = join(world.dir, 'haproxy.cfg')
  writeFileSync(path, config)
  const { pid } = world.startProxy([program('haproxy'), '-f', path])
  return await ready({ name: 'haproxy', ...ports, pid })
}

async function nginx(world: World): Promise<Contender> {
  const ports = { http: freePort(), https: freePort() }
  const at = (name: string) => join(world.dir, `nginx-${name}`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `  ${name}_temp_path ${at(name)};`).join('\n')
  const config = `daemon off;
worker_processes 1;
worker_rlimit_nofile 65536;
user root;
pid ${at('pid')};
error_log ${at('error.log')};
events { worker_connections 30000; }
http {
  access_log ${at('access.log')} combined buffer=64k flush=1s;
  keepalive_requests 1000000000;
  client_max_body_size 0;
  sendfile on;
  tcp_nopush on;
  open_file_cache max=1000;
${temporary}
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  upstream b { server 127.0.0.1:${world.upstreamPort}; keepalive 256; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${ports.http};
    listen 127.0.0.1:${ports.https} ssl http2;
    ssl_certificate ${world.certificateFile};
    ssl_certificate_key ${world.keyFile};
    server_name ${HOST};
    location / {
      proxy_pass http://b;
      proxy_http_version 1.1;
      proxy_set_header Connection $connection_upgrade;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Request-Id $request_id;
    }
  }
  server {
    listen 127.0.0.1:${ports.http};
    server_name ${STATIC_HOST};
    root ${world.siteDir};
  }
}
`
  const path = at('conf')
  writeFileSync(path, config)
  const { pid } = world.startProxy([program('nginx'), '-p', world.dir, '-e', at('error.log'), '-c', path])
  return await ready({ name: 'nginx', ...ports, pid })
}

async function caddy(world: World): Promise<Contender> {
  const ports = { http: freePort(), https: freePort() }
  const home = join(world.dir, 'caddy')
  mkdirSync(home)
  const route = `  reverse_proxy 127.0.0.1:${world.upstreamPort}
  log {
    output file ${join(home, 'access.log')}
  }`
  const config = `{
  admin off
  auto_https off
}
http://:${ports.http} {
${route}
}
https://:${ports.https} {
  tls ${world.certificateFile} ${world.keyFile}
${route}
}
`
  const path = join(home, 'Caddyfile')
  writeFileSync(path, config)
  const argv = [program('caddy'), 'run', '--adapter', 'caddyfile', '--config', path]
  const { pid } = world.startProxy(argv, { HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home, GOMAXPROCS: '1' })
  return await ready({ name: 'caddy', ...ports, pid })
}

/** Returns it once both of its ports answer. */
export async function ready(proxy: Contender): Promise<Contender> {
  for (let attempt = 0; attempt < 400; attempt++) {
    const answers = await Promise.all([
      fetch(`http://127.0.0.1:${proxy.http}/`, { headers: { host: HOST } }).catch(() => undefined),
      fetch(`https://127.0.0.1:${proxy.https}/`, { headers: { host: HOST }, tls: { rejectUnauthorized: false } }).catch(() => undefined),
    ])
    if (answers.every((answer) => answer?.ok)) return proxy
    await Bun.sleep(25)
  }
  throw new Error(`${proxy.name} does not answer at ${proxy.http} and ${proxy.https}`)
}
