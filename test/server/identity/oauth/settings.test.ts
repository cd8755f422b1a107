import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeConfig, readConfig } from '../../../../server/boot/settings/config.ts'
import { providerSettingsOf } from '../../../../server/identity/oauth/providers/settings.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cpd-oauth-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const settingsOf = (env: Record<string, string>) => providerSettingsOf(readConfig(env, {}, false))

function keyFile(curve: string): string {
  const path = join(folder, `${curve}.p8`)
  writeFileSync(path, generateKeyPairSync('ec', { namedCurve: curve }).privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return path
}

const github = { CP_GITHUB_CLIENT_ID: 'id', CP_GITHUB_CLIENT_SECRET: 'secret' }
const google = { CP_GOOGLE_CLIENT_ID: 'id', CP_GOOGLE_CLIENT_SECRET: 'secret' }
const apple = () => ({
  CP_APPLE_CLIENT_ID: 'id',
  CP_APPLE_TEAM_ID: 'team',
  CP_APPLE_KEY_ID: 'key',
  CP_APPLE_PRIVATE_KEY_FILE: keyFile('P-256'),
})

test('without settings there is no provider', () => {
  expect(settingsOf({})).toEqual([])
})

test('with an id and a secret, the provider is the one the world knows', () => {
  expect(settingsOf({ ...github, ...google, ...apple() })).toMatchObject([
    { id: 'github', name: 'GitHub', url: 'https://github.com', apiUrl: 'https://api.github.com' },
    { id: 'google', name: 'Google', issuer: 'https://accounts.google.com' },
    { id: 'apple', name: 'Apple', issuer: 'https://appleid.apple.com' },
  ])
})

test('a GitHub of one’s own has its API where GitHub Enterprise has it, unless it is named', () => {
  const own = { ...github, CP_GITHUB_URL: 'https://git.example.com/' }
  expect(settingsOf(own)).toMatchObject([{ url: 'https://git.example.com', apiUrl: 'https://git.example.com/api/v3' }])
  expect(settingsOf({ ...own, CP_GITHUB_API_URL: 'https://api.example.com' })).toMatchObject([{ apiUrl: 'https://api.example.com' }])
})

test('another OpenID provider is called by its host, unless it is given a name', () => {
  const own = { ...google, CP_GOOGLE_ISSUER: 'https://login.example.com/realms/team' }
  expect(settingsOf(own)).toMatchObject([{ issuer: 'https://login.example.com/realms/team', name: 'login.example.com' }])
  expect(settingsOf({ ...own, CP_GOOGLE_NAME: 'The Company' })).toMatchObject([{ name: 'The Company' }])
})

describe('half a configuration stops the start, naming what is missing', () => {
  test.each([
    [{ CP_GITHUB_CLIENT_ID: 'id' }, 'CP_GITHUB_CLIENT_ID is set, but CP_GITHUB_CLIENT_SECRET is not.'],
    [{ CP_GOOGLE_CLIENT_SECRET: 's' }, 'CP_GOOGLE_CLIENT_SECRET is set, but CP_GOOGLE_CLIENT_ID is not.'],
    [{ CP_GOOGLE_NAME: 'Us' }, 'CP_GOOGLE_NAME is set, but CP_GOOGLE_CLIENT_ID and CP_GOOGLE_CLIENT_SECRET are not.'],
    [
      { CP_APPLE_CLIENT_ID: 'id', CP_APPLE_TEAM_ID: 't' },
      'CP_APPLE_CLIENT_ID is set, but CP_APPLE_KEY_ID and CP_APPLE_PRIVATE_KEY_FILE are not.',
    ],
  ])('%j', (env, message) => {
    expect(() => settingsOf(env as Record<string, string>)).toThrow(message)
  })
})

test('a key of Apple that is missing, none, or of another curve stops the start', () => {
  expect(() => settingsOf({ ...apple(), CP_APPLE_PRIVATE_KEY_FILE: join(folder, 'none.p8') })).toThrow('CP_APPLE_PRIVATE_KEY_FILE: ')
  writeFileSync(join(folder, 'text.p8'), 'no key')
  expect(() => settingsOf({ ...apple(), CP_APPLE_PRIVATE_KEY_FILE: join(folder, 'text.p8') })).toThrow('cannot be read as a private key')
  expect(() => settingsOf({ ...apple(), CP_APPLE_PRIVATE_KEY_FILE: keyFile('P-384') })).toThrow('does not hold a key of the curve P-256')
})

test.each([
  'http://git.example.com',
  'ftp://git.example.com',
  'https://user:secret@git.example.com',
  'https://git.example.com/?a=b',
  'https://git.example.com/.well-known/openid-configuration',
  'git.example.com',
])('secrets are not sent to %s', (url) => {
  for (const name of ['CP_GITHUB_URL', 'CP_GITHUB_API_URL', 'CP_GOOGLE_ISSUER', 'CP_APPLE_ISSUER']) {
    expect(() => readConfig({ [name]: url }, {}, false)).toThrow(new RegExp(`^${name}: `))
  }
})

test('the secrets of clients are printed as set or not', () => {
  const printed = JSON.stringify(describeConfig(readConfig({ ...github, CP_GITHUB_CLIENT_SECRET: 'hidden-away' }, {}, false)))
  expect(printed).not.toContain('hidden-away')
})
