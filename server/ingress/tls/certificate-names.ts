import type { ServedCertificate } from '../tables/certificate-table.ts'

/** Certificates by the names they are served for. */
export type CertificateNames = ReadonlyMap<string, ServedCertificate>

/** Of two certificates for the same name the later one counts. */
export function certificateNames(certificates: readonly ServedCertificate[]): CertificateNames {
  return new Map(certificates.flatMap((certificate) => certificate.hosts.map((host) => [host.toLowerCase(), certificate] as const)))
}

/** Those that may be served for a host, the most exact one first: its own name, then the wildcard in place of its first label. */
export function certificatesFor(names: CertificateNames, host: string): ServedCertificate[] {
  const exact = names.get(host)
  const dot = host.indexOf('.')
  const wildcard = dot > 0 ? names.get(`*${host.slice(dot)}`) : undefined
  return [exact, wildcard].filter((certificate) => certificate !== undefined)
}

/** A name as clients send it, in the form of the table. */
export function plainName(name: string): string {
  const lower = name.toLowerCase()
  return lower.endsWith('.') ? lower.slice(0, -1) : lower
}
