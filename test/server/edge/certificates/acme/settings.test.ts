import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../../../../server/boot/settings/config.ts'
import { acmeSettingsOf } from '../../../../../server/edge/certificates/acme/settings.ts'

let dir: string
let files: Record<'root' | 'text' | 'program', string>

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'acme-settings-'))
  files = { root: join(dir, 'root.pem'), text: join(dir, 'text'), program: join(dir, 'hook') }
  writeFileSync(files.root, '-----BEGIN CERTIFICATE-----\n')
  writeFileSync(files.text, 'something else')
  writeFileSync(files.program, '#!/bin/true\n')
  chmodSync(files.program, 0o755)
})

afterAll(() => rmSync(dir, { recursive: true, force: true }))

const settingsOf = (env: Record<string, string>) => acmeSettingsOf(readConfig(env, {}, false))
const https = { CP_INGRESS_HTTPS: '0.0.0.0:443' }

test('without https nothing is obtained, with it from Let’s Encrypt by HTTP-01', () => {
  expect(settingsOf({})).toBeUndefined()
  expect(settingsOf(https)).toMatchObject({ directory: 'https://acme-v02.api.letsencrypt.org/directory', challenge: 'http-01' })
  expect(settingsOf({ ...https, CP_ACME_DIRECTORY: 'off' })).toBeUndefined()
})

test('all that is set is read', () => {
  const env = { CP_ACME_ROOT: files.root, CP_ACME_EMAIL: 'ops@acme.com', CP_ACME_CHALLENGE: 'dns-01', CP_ACME_DNS_HOOK: files.program }
  expect(settingsOf({ ...https, ...env, CP_ACME_EAB_KID: 'kid', CP_ACME_EAB_HMAC: 'key' })).toMatchObject({
    root: expect.stringContaining('BEGIN CERTIFICATE'),
    email: 'ops@acme.com',
    challenge: 'dns-01',
    dnsHook: files.program,
    externalAccount: { kid: 'kid', hmacKey: 'key' },
  })
})

test.each<[Record<string, string> | (() => Record<string, string>), RegExp]>([
  [{ CP_ACME_EMAIL: 'ops@acme.com' }, /CP_ACME_EMAIL is set, but CP_INGRESS_HTTPS is not/],
  [{ ...https, CP_ACME_EAB_KID: 'kid' }, /CP_ACME_EAB_KID and CP_ACME_EAB_HMAC belong together/],
  [{ ...https, CP_ACME_EAB_HMAC: 'key' }, /belong together/],
  [{ ...https, CP_ACME_CHALLENGE: 'dns-01' }, /needs CP_ACME_DNS_HOOK/],
  [{ ...https, CP_ACME_CHALLENGE: 'http-02' }, /CP_ACME_CHALLENGE: "http-02" is not one of/],
  [{ ...https, CP_ACME_DIRECTORY: 'http://ca.example/dir' }, /CP_ACME_DIRECTORY: .*not an https URL/],
  [{ ...https, CP_ACME_EMAIL: 'nobody' }, /CP_ACME_EMAIL: .*not an e-mail/],
  [{ ...https, CP_ACME_DNS_HOOK: 'hook' }, /CP_ACME_DNS_HOOK: "hook" is not an absolute path/],
  [() => ({ ...https, CP_ACME_DNS_HOOK: files.text }), /cannot be executed/],
  [() => ({ ...https, CP_ACME_DNS_HOOK: join(dir, 'none') }), /is missing/],
  [() => ({ ...https, CP_ACME_ROOT: files.text }), /holds no certificate in PEM/],
  [() => ({ ...https, CP_ACME_ROOT: join(dir, 'none') }), /CP_ACME_ROOT: .*cannot be read/],
])('%j stops the start with a line that names it', (env, message) => {
  expect(() => settingsOf(typeof env === 'function' ? env() : env)).toThrow(message)
})
