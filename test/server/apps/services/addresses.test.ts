import { afterAll, beforeAll, expect, test } from 'vitest'
import { urlOf } from '../../../../server/apps/services/addresses.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ env: { CP_BASE_DOMAIN: 'apps.acme.com', CP_INGRESS_HTTPS: '0.0.0.0:443' } })
})
afterAll(() => server.close())

function certify(host: string): void {
  server.db
    .query(
      "INSERT INTO certificates (id, host, source, chain, key_sealed, issuer, not_before, not_after, created_at) VALUES (?, ?, 'uploaded', '', '', '', 0, 0, 0)",
    )
    .run(host, host)
}

const url = (slug: string, ports: { http?: number; https?: number } = {}) => {
  const { config, hasCertificate } = server.context
  const at = (port: number) => ({ host: '0.0.0.0', port })
  return urlOf(
    { config: { ...config, CP_INGRESS_HTTP: at(ports.http ?? 80), CP_INGRESS_HTTPS: at(ports.https ?? 443) }, hasCertificate },
    slug,
  )
}

test('the URL of a service is https once its host has a certificate, and http before', () => {
  expect(url('web')).toBe('http://web.apps.acme.com')
  expect(url('web', { http: 8080 })).toBe('http://web.apps.acme.com:8080')
  certify('web.apps.acme.com')
  expect(url('web')).toBe('https://web.apps.acme.com')
  expect(url('web', { https: 8443 })).toBe('https://web.apps.acme.com:8443')
  expect(url('other')).toBe('http://other.apps.acme.com')
})

test('a wildcard over the base domain counts for all services', () => {
  certify('*.apps.acme.com')
  expect(url('other')).toBe('https://other.apps.acme.com')
})

test('without an ingress that serves https the URL is http, whatever certificates there are', () => {
  const { config, hasCertificate } = server.context
  expect(urlOf({ config: { ...config, CP_INGRESS_HTTPS: undefined }, hasCertificate }, 'web')).toBe('http://web.apps.acme.com:8080')
})
