import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProcess } from '../../server/platform/process/spawn.ts'

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'cpd-install-'))
})
afterAll(() => rmSync(root, { recursive: true }))

const cpd = (...args: string[]) => runProcess([resolve('dist/cpd'), ...args], { env: { PATH: process.env.PATH ?? '' } })
const modeOf = (path: string): string => (statSync(join(root, path)).mode & 0o777).toString(8)

test('installs below another root, twice with the same result, and removes it again', async () => {
  const flags = ['--root', root, '--base-domain', 'apps.example.com', '--acme-email', 'me@example.com']
  const once = await cpd('install', ...flags)
  expect(once).toMatchObject({ exitCode: 0, stderr: '' })
  expect(once.stdout).toContain(`Installed below ${root}. Nothing was started.`)
  expect(['usr/local/bin/cpd', 'etc/cpd', 'etc/cpd/cpd.env', 'etc/systemd/system/cpd.service', 'var/lib/cpd'].map(modeOf)).toEqual([
    '755',
    '700',
    '600',
    '644',
    '711',
  ])
  const env = readFileSync(join(root, 'etc/cpd/cpd.env'), 'utf8')
  expect(env).toContain('CP_INGRESS_HTTP="0.0.0.0:80"\nCP_INGRESS_HTTPS="0.0.0.0:443"\n')
  expect(env).toContain('CP_BASE_DOMAIN="apps.example.com"\n')
  expect(await runProcess([join(root, 'usr/local/bin/cpd'), '--version'])).toMatchObject({ exitCode: 0 })

  const twice = await cpd('install', ...flags)
  expect(twice.stdout).not.toContain('done')
  expect(readFileSync(join(root, 'etc/cpd/cpd.env'), 'utf8')).toBe(env)

  expect(await cpd('uninstall', '--root', root)).toMatchObject({ exitCode: 0, stderr: '' })
  expect(existsSync(join(root, 'usr/local/bin/cpd'))).toBe(false)
  expect(existsSync(join(root, 'etc/systemd/system/cpd.service'))).toBe(false)
  expect(existsSync(join(root, 'etc/cpd/cpd.env'))).toBe(true)
})

test('a dry run prints everything and does nothing', async () => {
  const { stdout, exitCode } = await cpd('install', '--dry-run', '--public-url', 'https://cpd.example.com')
  expect(exitCode).toBe(0)
  expect(stdout).toContain('executable /usr/local/bin/cpd')
  expect(stdout).toContain('    KillMode=process\n')
  expect(stdout).toContain('    CP_PUBLIC_URL="https://cpd.example.com"\n')
})

test('a value that cpd serve would not take is refused before anything is written', async () => {
  const { stderr, exitCode } = await cpd('install', '--root', join(root, 'other'), '--base-domain', 'not a name')
  expect(stderr).toContain('CP_BASE_DOMAIN')
  expect(exitCode).toBe(1)
  expect(existsSync(join(root, 'other'))).toBe(false)
})
