import type { ServedCertificate } from '../tables/certificate-table.ts'

export type CertificateNames = ReadonlyMap<string, ServedCertificate>

export function certificateNames(certificates: readonly ServedCertificate[]): CertificateNames {
  return new Map(certificates.flatMap((certificate) => certificate.hosts.map((host) => [host.toLowerCase(), certificate] as const)))
}

export function certificatesFor(names: CertificateNames, host: string): ServedCertificate[] {
  const exact = names.get(host)
  const dot = host.indexOf('.')
  const wildcard = dot > 0 ? names.get(`*${host.slice(dot)}`) : undefined
  return [exact, wildcard].filter((certificate) => certificate !== undefined)
}

export function plainName(name: string): string {
  const lower = name.toLowerCase()
  return lower.endsWith('.') ? lower.slice(0, -1) : lower
}
