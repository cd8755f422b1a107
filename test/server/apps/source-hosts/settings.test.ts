import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sharedApp } from '../../../../server/apps/source-hosts/providers/github/apps.ts'
import { giteaAuthority } from '../../../../server/apps/source-hosts/providers/reach.ts'
import { readConfig } from '../../../../server/boot/settings/config.ts'
import { makeCertificate } from '../../../support/certificates.ts'
import { type Github, startGithub } from '../../../support/github.ts'

let folder: string
let github: Github
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cpd-source-hosts-'))
  github = startGithub()
})
afterAll(async () => {
  await github.close()
  rmSync(folder, { recursive: true })
})

const configOf = (env: Record<string, string>) => readConfig(env, {}, false)

function fileOf(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

test('an app is given wholly or not at all', () => {
  expect(sharedApp(configOf({}))).toBeUndefined()
  expect(sharedApp(configOf(github.sharedApp))).toMatchObject({ appId: '12345', isShared: true, privateKey: github.privateKey })
  const { CP_GITHUB_APP_CLIENT_SECRET: _, ...half } = github.sharedApp
  expect(() => sharedApp(configOf(half))).toThrow('CP_GITHUB_APP_CLIENT_SECRET not set')
})

test.each([
  ['is not there', () => join(folder, 'none')],
  ['holds no key', () => fileOf('note', 'a note')],
])('a key file that %s is told without its path', (_, path) => {
  const config = configOf({ ...github.sharedApp, CP_GITHUB_APP_KEY_FILE: path() })
  expect(() => sharedApp(config)).toThrow(/^CP_GITHUB_APP_KEY_FILE names no file with a private key that can be read\.$/)
})

test('an authority is read from a file of certificates, and from no other', async () => {
  const { certificate } = await makeCertificate({})
  const authorityOf = (CP_GITEA_CA_FILE: string) => giteaAuthority(configOf({ CP_GITEA_CA_FILE }))
  expect(giteaAuthority(configOf({}))).toBeUndefined()
  expect(authorityOf(fileOf('ca.pem', certificate))).toBe(certificate)
  expect(() => authorityOf(fileOf('note.pem', 'a note'))).toThrow('CP_GITEA_CA_FILE names no file with a certificate')
})

test('an id that is no number is refused', () => {
  expect(() => configOf({ CP_GITHUB_APP_ID: 'Iv1.client' })).toThrow('no id of a GitHub App')
})
