import { describe, expect, test } from 'vitest'
import { describeConfig, readConfig } from '../../../../server/boot/settings/config.ts'
import { reachLoopbackDirectly } from '../../../../server/boot/settings/environment.ts'

const token = 'a-token-of-24-characters'

describe('builds', () => {
  test('are given the variables that CP_BUILD_PASS names', () => {
    const env = { CP_BUILD_PASS: 'PIP_*,GOPROXY', PIP_INDEX_URL: 'https://pip.example', GOPROXY: 'https://go.example', HOME: '/root' }
    expect(readConfig(env, {}, false).buildEnv).toEqual({ PIP_INDEX_URL: 'https://pip.example', GOPROXY: 'https://go.example' })
  })

  test('are never given a setting of ours, whatever CP_BUILD_PASS names', () => {
    const own = { SERVICE_API_TOKEN: token, CONTROL_PLANE_API_TOKEN: token, CP_ADMIN_PASSWORD: 'a long password' }
    const { buildEnv } = readConfig({ ...own, CP_BUILD_PASS: '*,SERVICE_API_TOKEN', OTHER: 'yes' }, {}, false)
    expect(buildEnv).toEqual({ OTHER: 'yes' })
  })
})

describe('a setting that cannot be', () => {
  test.each([
    ['CP_ADMIN_EMAIL', ''],
    ['CP_ADMIN_EMAIL', 'Ada <ada@example.com>'],
    ['CP_ADMIN_PASSWORD', 'too short'],
    ['CP_LISTEN', '8400'],
    ['CP_PUBLIC_URL', 'cp.example.com'],
    ['CP_BASE_DOMAIN', 'Apps.Example.com'],
    ['CP_ENGINE', 'docker'],
    ['CP_TRUSTED_PROXIES', '10.0.0.0/8,proxy.example'],
    ['CP_REGISTRATION', 'sometimes'],
    ['CP_RELEASES_KEPT', '1'],
    ['CP_UPLOAD_MAX_MB', '1.5'],
    ['SERVICE_API_TOKEN', 'too-short'],
  ])('%s=%s is refused by its name', (name, value) => {
    expect(() => readConfig({ [name]: value }, {}, false)).toThrow(new RegExp(`^${name}: `))
  })

  test('an unknown name is refused', () => {
    expect(() => readConfig({ CP_LISTN: '127.0.0.1:1' }, {}, false)).toThrow('CP_LISTN is not a setting')
  })
})

test('a flag wins over the environment, the environment over the default', () => {
  const env = { CP_LISTEN: '127.0.0.1:1', CP_INGRESS_HTTP: '127.0.0.1:2' }
  const { CP_LISTEN, CP_INGRESS_HTTP, CP_ENGINE } = readConfig(env, { CP_LISTEN: '[::1]:3' }, false)
  expect([CP_LISTEN, CP_INGRESS_HTTP, CP_ENGINE]).toEqual([{ host: '::1', port: 3 }, { host: '127.0.0.1', port: 2 }, 'process'])
})

test('the old name of the static token is taken where the new one is absent', () => {
  expect(readConfig({ CONTROL_PLANE_API_TOKEN: token }, {}, false).SERVICE_API_TOKEN).toBe(token)
})

test('what is in force is described where a setting is empty', () => {
  const config = readConfig({ CP_DATA_DIR: '/srv/cpd', CP_LISTEN: '127.0.0.1:1234' }, {}, false)
  const values = Object.fromEntries(describeConfig(config).map(({ name, value }) => [name, value]))
  expect(values).toMatchObject({ CP_PUBLIC_URL: 'http://localhost:1234', CP_MASTER_KEY_FILE: '/srv/cpd/master.key' })
  expect(Object.entries(values).filter(([, value]) => value === '')).toEqual([])
})

test('secrets are described as set or not', () => {
  const printed = JSON.stringify(describeConfig(readConfig({ SERVICE_API_TOKEN: token }, {}, false)))
  expect(printed).toContain('(set)')
  expect(printed).toContain('(not set)')
  expect(printed).not.toContain(token)
})

test('a proxy for the world outside is not asked for this machine, and what was excepted stays so', () => {
  const env: Record<string, string | undefined> = { HTTP_PROXY: 'http://proxy.example:3128', no_proxy: '.corp.example,localhost' }
  reachLoopbackDirectly(env)
  expect(env).toMatchObject({ NO_PROXY: '.corp.example,localhost,127.0.0.1,::1', no_proxy: '.corp.example,localhost,127.0.0.1,::1' })
})
