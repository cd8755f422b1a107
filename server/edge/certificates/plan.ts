/** Nothing is remembered between two plans: after a crash, a restored backup or changed settings the next plan is right again. */
import { createHash } from 'node:crypto'
import type { StoredCertificate } from './store/certificates.ts'
import type { StoredOrder } from './store/orders.ts'
import type { ServedHost, Wanted } from './wanted.ts'
import { covers } from './x509/names.ts'

export type HeldCertificate = Pick<
  StoredCertificate,
  'id' | 'host' | 'source' | 'directory' | 'notBefore' | 'notAfter' | 'warnedAt' | 'removedAt' | 'revokeAttempts' | 'nextRevokeAt'
>
export type HeldOrder = Pick<StoredOrder, 'host' | 'nextAttemptAt'>

export interface PlanInput {
  now: number
  wanted: Wanted
  certificates: HeldCertificate[]
  orders: HeldOrder[]
  directory: string | undefined
}

export interface Plan {
  order: ServedHost[]
  obtain: string[]
  dropOrders: string[]
  remove: string[]
  revoke: string[]
  forget: string[]
  warn: string[]
  isFallbackDue: boolean
  nextAt: number | undefined
}

const DAY_MS = 24 * 60 * 60 * 1000

export const MAX_REVOKE_ATTEMPTS = 8
/** Uploaded certificates are renewed by people, who need some days. */
export const WARN_BEFORE_MS = 14 * DAY_MS

/** Returns two thirds of the lifetime, up to a thirtieth of it earlier by the certificate's id: hundreds obtained together are not due together. */
export function renewalAt({ id, notBefore, notAfter }: Pick<HeldCertificate, 'id' | 'notBefore' | 'notAfter'>): number {
  const spread = createHash('sha256').update(id).digest().readUInt32BE(0) / 2 ** 32
  return Math.floor(notBefore + (notAfter - notBefore) * (2 / 3 - spread / 30))
}

export function planCertificates(input: PlanInput): Plan {
  const { now, wanted, certificates, directory } = input
  const inUse = certificates.filter(({ removedAt }) => removedAt === null)
  const byHost = Map.groupBy(inUse, ({ host }) => host)
  const removed = certificates.filter(({ removedAt }) => removedAt !== null)
  const lacking = wanted.names.filter(({ host }) => dueAt(input, byHost.get(host)) <= now)
  const lackingHosts = new Set(lacking.map(({ host }) => host))
  const ordered = new Map(input.orders.map((order) => [order.host, order]))
  const wantedNames = new Set(wanted.names.map(({ host }) => host))
  const gone = inUse
    .filter(({ source, host }) => source !== 'self_signed' && !wantedNames.has(host))
    .filter((held) => isGone(held, wanted, inUse))
  const isRevocable = ({ source, host, directory: from, notAfter }: HeldCertificate) =>
    source === 'acme' && from === directory && notAfter > now && !wanted.served.some((served) => covers(host, served.host))
  const isHopeless = (certificate: HeldCertificate) =>
    certificate.notAfter <= now || certificate.directory !== directory || certificate.revokeAttempts >= MAX_REVOKE_ATTEMPTS
  const [hopeless, revocable] = parted(removed, isHopeless)
  const fallback = inUse.find(({ source }) => source === 'self_signed')
  return {
    order: lacking.filter(({ host }) => !ordered.has(host)),
    obtain: dueOrders(lacking, ordered, { now, byHost }),
    dropOrders: input.orders.map(({ host }) => host).filter((host) => !lackingHosts.has(host)),
    remove: gone.filter(isRevocable).map(idOf),
    revoke: revocable.filter(({ nextRevokeAt }) => nextRevokeAt <= now).map(idOf),
    forget: [...gone.filter((certificate) => !isRevocable(certificate)), ...hopeless].map(idOf),
    warn: inUse.filter((held) => held.warnedAt === null && warnAt(held) <= now).map(idOf),
    isFallbackDue: fallback === undefined || renewalAt(fallback) <= now,
    nextAt: earliest(
      [...dates(input, { inUse, byHost, revocable, lackingHosts }), ...(fallback === undefined ? [] : [renewalAt(fallback)])],
      now,
    ),
  }
}

/** A name is ordered at once while it has no certificate, and never while a valid one of the user's own is in use. */
function dueAt({ now, directory }: PlanInput, held: HeldCertificate[] = []): number {
  if (held.some(({ source, notAfter }) => source === 'uploaded' && notAfter > now)) return Number.POSITIVE_INFINITY
  const issued = held.find(({ source }) => source === 'acme')
  // A certificate of another authority, a test one say, is replaced by one of the authority that is set now.
  return issued === undefined || issued.directory !== directory ? now : renewalAt(issued)
}

/** A certificate is gone when its host is, or when another wanted one covers the host. */
function isGone({ id, host, source }: HeldCertificate, wanted: Wanted, inUse: HeldCertificate[]): boolean {
  const isCoveredBetter = (served: string) =>
    inUse.some((other) => other.id !== id && covers(other.host, served) && wanted.names.some((name) => name.host === other.host))
  return !wanted.served.some((served) => covers(host, served.host) && (source === 'uploaded' || !isCoveredBetter(served.host)))
}

function dueOrders(
  lacking: ServedHost[],
  ordered: Map<string, HeldOrder>,
  { now, byHost }: { now: number; byHost: Map<string, HeldCertificate[]> },
): string[] {
  const due = lacking.map(({ host }) => host).filter((host) => (ordered.get(host)?.nextAttemptAt ?? now) <= now)
  const [renewals, firsts] = parted(due, (host) => byHost.has(host))
  return [...firsts, ...renewals]
}

const warnAt = ({ source, notAfter }: HeldCertificate): number =>
  source === 'uploaded' ? notAfter - WARN_BEFORE_MS : Number.POSITIVE_INFINITY

interface Sorted {
  inUse: HeldCertificate[]
  byHost: Map<string, HeldCertificate[]>
  revocable: HeldCertificate[]
  lackingHosts: Set<string>
}

function dates(input: PlanInput, { inUse, byHost, revocable, lackingHosts }: Sorted): number[] {
  return [
    ...input.orders.filter(({ host }) => lackingHosts.has(host)).map(({ nextAttemptAt }) => nextAttemptAt),
    ...input.wanted.names.filter(({ host }) => !lackingHosts.has(host)).map(({ host }) => dueAt(input, byHost.get(host))),
    ...revocable.map(({ nextRevokeAt }) => nextRevokeAt),
    ...inUse.filter(({ warnedAt }) => warnedAt === null).map(warnAt),
    ...inUse.filter(({ source }) => source === 'uploaded').map(({ notAfter }) => notAfter),
  ]
}

function earliest(times: number[], now: number): number | undefined {
  const next = times.filter((time) => time > now).reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY)
  return Number.isFinite(next) ? next : undefined
}

const idOf = ({ id }: HeldCertificate): string => id

function parted<T>(items: T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}
