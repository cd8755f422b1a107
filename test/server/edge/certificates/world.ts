import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Context } from '../../../../server/boot/serve/context.ts'
import { acmeSettingsOf } from '../../../../server/edge/certificates/acme/settings.ts'
import { type CertificatesOptions, createCertificates } from '../../../../server/edge/certificates/reconcile.ts'
import { allCertificates, certificateOf } from '../../../../server/edge/certificates/store/certificates.ts'
import { deleteDomain, domainNamed, insertDomain, markVerified } from '../../../../server/edge/domains/store.ts'
import { type CertificateTable, EMPTY_CERTIFICATE_TABLE, keyPurpose } from '../../../../server/ingress/tables/certificate-table.ts'
import { newId } from '../../../../server/platform/id.ts'
import type { Event } from '../../../../shared/event.ts'
import { idleIngress } from '../../../support/idle-parts.ts'
import type { Pebble } from '../../../support/pebble.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { makeService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

/** What the ingress would do with its table, as small as it can be: keeps it, and answers HTTP-01 out of it. */
export interface Edge {
  port: number
  table: CertificateTable
  /** Every table that was published. */
  tables: CertificateTable[]
  close(): void
}

export function startEdge(): Edge {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      const found = edge.table.challenges.find(
        (challenge) => challenge.kind === 'http' && pathname === `/.well-known/acme-challenge/${challenge.token}`,
      )
      return found?.kind === 'http' ? new Response(found.keyAuthorization) : new Response('', { status: 404 })
    },
  })
  const edge: Edge = { port: server.port ?? 0, table: EMPTY_CERTIFICATE_TABLE, tables: [], close: () => void server.stop(true) }
  return edge
}

export interface World {
  server: TestServer
  context: Context
  edge: Edge
  serviceId: string
  poke(): void
  /** Adds a verified domain to the service. */
  add(...names: string[]): void
  remove(name: string): void
  /** Waits until the ingress serves a certificate for this name, other than the one given. */
  served(name: string, other?: X509Certificate): Promise<X509Certificate>
  status(name: string): ReturnType<typeof certificateOf>
  events(): Promise<Pick<Event, 'type' | 'details'>[]>
  /** Ends the reconciler, as the end of the control plane does. */
  stop(): Promise<void>
  close(): Promise<void>
}

export interface WorldOptions {
  env?: Record<string, string>
  options?: Partial<CertificatesOptions>
  /** Milliseconds by which our clock is ahead. */
  clock?: { aheadMs: number }
}

export const quickBackoff = { firstMs: 100, longestMs: 2000 }

/** The reconciler of certificates on a real database, with an edge that records; the API beside it. */
export async function startWorld(pebble: Pebble | undefined, edge: Edge, { env = {}, options = {}, clock }: WorldOptions = {}) {
  const stopper = new AbortController()
  const acmeEnv = pebble === undefined ? {} : { CP_ACME_DIRECTORY: pebble.directory, CP_ACME_ROOT: pebble.rootFile }
  const server = await startTestServer({
    env: { CP_INGRESS_HTTPS: '127.0.0.1:8443', ...acmeEnv, ...env },
    parts: {
      stopping: stopper.signal,
      now: () => Date.now() + (clock?.aheadMs ?? 0),
      ingress: {
        ...idleIngress,
        publishCertificates: async (table) => {
          edge.table = table
          edge.tables.push(table)
        },
      },
    },
  })
  const { context } = server
  const acme = acmeSettingsOf(context.config)
  const certificates = createCertificates(context, { acme, backoff: quickBackoff, ...options })
  const service = await makeService(server, { type: 'web_service', name: 'shop' })
  const serviceId = service.id
  const world: World = {
    server,
    context,
    edge,
    serviceId,
    poke: () => certificates.poke(),
    add(...names) {
      for (const name of names) addDomain(context, serviceId, name)
      certificates.poke()
    },
    remove(name) {
      deleteDomain(context.db, domainNamed(context.db, name)?.id ?? '')
      certificates.poke()
    },
    served: (name, other) => until(`${name} is served`, () => leafIn(edge.table, name, other), 60_000),
    status: (name) => certificateOf(context.db, name),
    events: async () => (await service.events()).filter(({ type }) => type.startsWith('certificate')),
    async stop() {
      stopper.abort(new Error('The control plane stops.'))
      await certificates.settled()
    },
    async close() {
      await world.stop()
      await server.close()
    },
  }
  return world
}

export function addDomain(context: Context, serviceId: string, name: string): void {
  const id = newId('customDomain')
  const parts = { domainType: 'subdomain', publicSuffix: name.slice(name.lastIndexOf('.') + 1), registrable: name, challenge: 'x' } as const
  insertDomain(context.db, { id, serviceId, name, ...parts, watchedUntil: 0, createdAt: Date.now() })
  markVerified(context.db, id, Date.now())
}

function leafIn(table: CertificateTable, name: string, other: X509Certificate | undefined): X509Certificate | undefined {
  const found = table.certificates.find(({ hosts }) => hosts.includes(name))
  const leaf = found === undefined ? undefined : new X509Certificate(found.certificate)
  return leaf?.serialNumber === other?.serialNumber ? undefined : leaf
}

/** Whether the key that goes with a certificate in the table is its key. */
export function keyFits({ context, edge }: World, name: string): boolean {
  const found = edge.table.certificates.find(({ hosts }) => hosts.includes(name))
  if (found === undefined) return false
  const key = createPrivateKey(context.sealer.open(found.sealedKey, keyPurpose(found.id)))
  return new X509Certificate(found.certificate).checkPrivateKey(key)
}

/** Hosts of every certificate that is kept. */
export const heldHosts = ({ context }: World): string[] => allCertificates(context.db).map(({ host }) => host)
