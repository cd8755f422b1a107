import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mergeEnvFile } from '../../../../server/boot/install/env-file.ts'
import { describeStep, planInstall, planUninstall } from '../../../../server/boot/install/plan.ts'
import { unitText } from '../../../../server/boot/install/unit.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'

const base = {
  executable: '/home/me/cpd',
  dataDir: '/var/lib/cpd',
  user: undefined,
  settings: { CP_BASE_DOMAIN: 'apps.example.com' },
  existingEnvFile: undefined,
  root: undefined,
  isSystemdRunning: true,
}

test('the executable, the data folder, the settings and the unit are put in place, then the unit is started', () => {
  const steps = planInstall(base)
  expect(steps.map(describeStep).map((text) => text.split(':\n')[0])).toEqual([
    'executable /usr/local/bin/cpd, a copy of /home/me/cpd',
    'folder /var/lib/cpd, mode 711',
    'folder /etc/cpd, mode 700',
    'file /etc/cpd/cpd.env, mode 600',
    'file /etc/systemd/system/cpd.service, mode 644',
    'run systemctl daemon-reload',
    'run systemctl enable --now cpd.service',
  ])
})

test('below another root, or without systemd, nothing is run', () => {
  for (const options of [
    { ...base, root: '/mnt/image' },
    { ...base, isSystemdRunning: false },
  ]) {
    expect(planInstall(options).filter(({ kind }) => kind === 'run')).toEqual([])
  }
  expect(planInstall({ ...base, root: '/mnt/image' }).map((step) => 'path' in step && step.path.startsWith('/mnt/image/'))).toEqual(
    Array(5).fill(true),
  )
})

test('uninstalling ends everything first and keeps data and settings', () => {
  expect(planUninstall({ ...base, isInstalled: true }).map(describeStep)).toEqual([
    'run systemctl disable --now cpd.service',
    'run /usr/local/bin/cpd stop --data /var/lib/cpd',
    'remove /etc/systemd/system/cpd.service',
    'remove /usr/local/bin/cpd',
    'remove /usr/local/bin/cpd.previous',
    'run systemctl daemon-reload',
  ])
})

describe('the file of settings', () => {
  const defaults = { CP_INGRESS_HTTP: '0.0.0.0:80', CP_INGRESS_HTTPS: '0.0.0.0:443' }

  test('a new one has the defaults and what was given', () => {
    expect(mergeEnvFile(undefined, { CP_BASE_DOMAIN: 'a.example' }, defaults)).toMatch(
      /^# .*\nCP_INGRESS_HTTP="0.0.0.0:80"\nCP_INGRESS_HTTPS="0.0.0.0:443"\nCP_BASE_DOMAIN="a.example"\n$/,
    )
  })

  test('what stands there is kept, comments too, except for what is given anew', () => {
    const existing = '# mine\nCP_INGRESS_HTTP=10.0.0.1:80\nCP_BASE_DOMAIN="old.example"\nSERVICE_API_TOKEN=secret\n'
    expect(mergeEnvFile(existing, { CP_BASE_DOMAIN: 'new.example' }, defaults)).toBe(
      '# mine\nCP_INGRESS_HTTP=10.0.0.1:80\nCP_BASE_DOMAIN="new.example"\nSERVICE_API_TOKEN=secret\nCP_INGRESS_HTTPS="0.0.0.0:443"\n',
    )
  })

  test('doing it again changes nothing', () => {
    const once = mergeEnvFile(undefined, { CP_PUBLIC_URL: 'https://x.example/"\\' }, defaults)
    expect(mergeEnvFile(once, { CP_PUBLIC_URL: 'https://x.example/"\\' }, defaults)).toBe(once)
  })
})

describe('the unit', () => {
  let dir: string
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'cpd-unit-'))
  })
  afterAll(() => rmSync(dir, { recursive: true }))

  test.each([
    ['as root', undefined],
    ['as another user', 'daemon'],
  ])('%s passes systemd-analyze verify without a remark', async (_, user) => {
    const executable = join(dir, 'cpd')
    writeFileSync(executable, '#!/bin/sh\n')
    chmodSync(executable, 0o755)
    const unit = join(dir, 'cpd.service')
    writeFileSync(unit, unitText({ executable, envFile: '/etc/cpd/cpd.env', user }))
    const verified = await runProcess(['systemd-analyze', 'verify', '--recursive-errors=no', '--man=no', unit], {
      env: { PATH: process.env.PATH ?? '' },
    }).catch((cause) => {
      throw new Error('systemd-analyze is not installed. Debian: apt install systemd', { cause })
    })
    expect(verified).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
  })

  test('only cpd serve is killed with it, it comes back, and its control groups are its own', () => {
    const lines = unitText({ executable: '/usr/local/bin/cpd', envFile: '/etc/cpd/cpd.env' }).split('\n')
    expect(lines).toEqual(
      expect.arrayContaining(['ExecStart=/usr/local/bin/cpd serve', 'KillMode=process', 'Restart=always', 'Delegate=yes', 'User=root']),
    )
  })

  test('a user who is not root gets ports below 1024 by capability, and no other one', () => {
    const lines = unitText({ executable: '/usr/local/bin/cpd', envFile: '/etc/cpd/cpd.env', user: 'cpd' }).split('\n')
    expect(lines.filter((line) => line.includes('CAP_'))).toEqual([
      'AmbientCapabilities=CAP_NET_BIND_SERVICE',
      'CapabilityBoundingSet=CAP_NET_BIND_SERVICE',
    ])
  })
})
