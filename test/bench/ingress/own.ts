import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIngressClient } from '../../../server/ingress/control/client.ts'
import { keyPurpose } from '../../../server/ingress/tables/certificate-table.ts'
import type { Route } from '../../../server/ingress/tables/route-table.ts'
import { openSealer } from '../../../server/platform/secrets/seal.ts'
import { type Contender, ready } from './peers.ts'
import { freePort, HOST, STATIC_HOST, type World } from './world.ts'

const EXECUTABLE = join(import.meta.dirname, '../../../dist/cpd')

/** Our ingress as the control plane starts it, with counters, limits and the access log on, and so many hosts beside the one asked for. */
export async function ownIngress(world: World, { name, extraHosts }: { name: string; extraHosts: number }): Promise<Contender> {
  const ports = { http: freePort(), https: freePort() }
  const at = (file: string) => join(world.dir, `${name}-${file}`)
  const sealer = openSealer(at('master.key'))
  const files = ['--socket', at('control.sock'), '--routes', at('routes.json'), '--certificates', at('certificates.json')]
  const listen = ['--listen', `127.0.0.1:${ports.http}`, '--listen-tls', `127.0.0.1:${ports.https}`]
  const rest = ['--master-key', at('master.key'), '--access-log', at('access')]
  const { pid } = world.startProxy([EXECUTABLE, 'ingress', ...listen, ...files, ...rest])
  const client = createIngressClient(at('control.sock'))
  await answering(client)
  const certificate = await Bun.file(world.certificateFile).text()
  const sealedKey = sealer.seal(await Bun.file(world.keyFile).text(), keyPurpose('crt-bench'))
  const served = { id: 'crt-bench', hosts: ['*.bench.test'], certificate, sealedKey, isTrusted: false }
  await client.publishCertificates({ version: 1, certificates: [served], fallbackId: served.id, challenges: [] })
  await client.publish({ version: 1, hosts: hostsOf(world, extraHosts) })
  writeFileSync(at('hosts.lua'), hostsScript(extraHosts))
  return await ready({ name, ...ports, pid })
}

/** The wrk script that asks for another host each time. */
export const hostsScriptOf = (world: World, name: string): string => join(world.dir, `${name}-hosts.lua`)

/** All but the site are domains of one service: an instance more for each would measure ten thousand upstream connections. */
function hostsOf({ upstreamPort, siteDir }: World, extraHosts: number): Record<string, Route> {
  const targets = [{ instanceId: 'srv-app-1', host: '127.0.0.1', port: upstreamPort }]
  const proxied: Route = { kind: 'proxy', serviceId: 'srv-app', name: 'app', targets }
  const extra = Array.from({ length: extraHosts }, (_, index) => [`h${index}.bench.test`, proxied] as const)
  return {
    ...Object.fromEntries(extra),
    [HOST]: proxied,
    [STATIC_HOST]: { kind: 'static', serviceId: 'srv-static', name: 'static', releaseId: 'rel-1', root: siteDir, headers: [], rules: [] },
  }
}

const hostsScript = (hosts: number): string => `local n = 0
request = function()
  n = (n * 1103515245 + 12345) % 2147483648
  return wrk.format("GET", "/", { ["Host"] = "h" .. (n % ${Math.max(1, hosts)}) .. ".bench.test" })
end
`

async function answering(client: ReturnType<typeof createIngressClient>): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const status = await client.status().catch(() => undefined)
    if (status !== undefined) return
    await Bun.sleep(25)
  }
  throw new Error('The ingress did not start; build it first: npm run build')
}
