import { describe, expect, test } from 'vitest'
import { applyControls } from '../../../../server/apps/services/controls.ts'
import { applyDetails, defaultSettings } from '../../../../server/apps/services/settings.ts'
import { AppError } from '../../../../shared/error.ts'
import { defaultControls } from '../../../../shared/service-controls.ts'
import type { AnyDetailsInput } from '../../../../shared/service-details.ts'
import type { ServiceType } from '../../../../shared/service-type.ts'

const apply = (input: AnyDetailsInput, type: ServiceType = 'web_service') => applyDetails(type, defaultSettings, input)

function refusal(input: AnyDetailsInput, type: ServiceType): string[] {
  try {
    apply(input, type)
    return []
  } catch (error) {
    return error instanceof AppError && error.code === 'validation_failed' ? (error.details ?? []).map(({ path }) => path) : ['no AppError']
  }
}

describe('details of a service', () => {
  test('that are not given leave the settings as they are', () => {
    expect(apply({})).toEqual(defaultSettings)
  })
  test('are taken from envSpecificDetails, and what stands directly wins', () => {
    const native = { buildCommand: 'make', startCommand: './app', preDeployCommand: './migrate' }
    expect(apply({ envSpecificDetails: native })).toMatchObject(native)
    expect(apply({ envSpecificDetails: native, preDeployCommand: './other' })).toMatchObject({ preDeployCommand: './other' })
  })
  test('that are emptied are empty', () => {
    const settings = { ...defaultSettings, preDeployCommand: './migrate', healthCheckPath: '/health' }
    expect(applyDetails('web_service', settings, { preDeployCommand: '', healthCheckPath: '' })).toEqual(defaultSettings)
  })
  test('with rules whose paths are too long together are refused by their list', () => {
    const path = `/${'a'.repeat(1023)}`
    const routes = (count: number) => Array(count).fill({ type: 'redirect', source: path, destination: '/x' })
    expect(refusal({ routes: routes(8) }, 'web_service')).toEqual([])
    expect(refusal({ routes: routes(9) }, 'web_service')).toEqual(['/serviceDetails/routes'])
    const headers = Array(9).fill({ path, name: 'X-A', value: '' })
    expect(refusal({ headers }, 'static_site')).toEqual(['/serviceDetails/headers'])
  })
  test('take env for runtime, and refuse two that differ', () => {
    expect(apply({ env: 'go' }).runtime).toBe('go')
    expect(apply({ env: 'go', runtime: 'go' }).runtime).toBe('go')
    expect(refusal({ env: 'go', runtime: 'node' }, 'web_service')).toEqual(['/serviceDetails/env'])
  })
  test.each<[ServiceType, AnyDetailsInput, string[]]>([
    ['static_site', { plan: 'pro', numInstances: 2 }, ['plan', 'numInstances']],
    ['background_worker', { healthCheckPath: '/health' }, ['healthCheckPath']],
    ['private_service', { healthCheckPath: '/health' }, ['healthCheckPath']],
    ['web_service', { publishPath: 'dist', headers: [] }, ['publishPath']],
    [
      'private_service',
      { headers: [{ path: '/*', name: 'X-A', value: '1' }], routes: [], cutoverGuard: {}, maintenanceMode: { enabled: true } },
      ['headers', 'cutoverGuard', 'maintenanceMode'],
    ],
    ['background_worker', { ipAllowList: [{ cidrBlock: '10.0.0.0/8' }] }, ['ipAllowList']],
    ['static_site', { cutoverGuard: { windowSeconds: 10 } }, ['cutoverGuard']],
    ['web_service', { headers: [{ path: '/*', name: 'Transfer-Encoding', value: 'x' }] }, ['headers/0/name']],
    ['web_service', { routes: [{ type: 'rewrite', source: '/*', destination: '/a' }] }, ['routes/0/type']],
    ['static_site', { routes: [{ type: 'rewrite', source: '/*', destination: 'https://a.test/' }] }, ['routes/0/destination']],
  ])('that a %s does not have are refused by name', (type, input, fields) => {
    expect(refusal(input, type)).toEqual(fields.map((field) => `/serviceDetails/${field}`))
  })
})

describe('controls', () => {
  const blocks = (...cidrs: string[]) => ({ ipAllowList: cidrs.map((cidrBlock) => ({ cidrBlock })) })

  test('that are not named stay, and parts of one as well', () => {
    const changed = applyControls(defaultControls, { cutoverGuard: { windowSeconds: 60 }, ...blocks('10.0.0.0/8') })
    expect(changed).toEqual({
      ...defaultControls,
      ipAllowList: [{ cidrBlock: '10.0.0.0/8', description: '' }],
      cutoverGuard: { ...defaultControls.cutoverGuard, windowSeconds: 60 },
    })
    const closed = applyControls(changed, { maintenanceMode: { enabled: true, uri: 'https://a.test' } })
    expect(applyControls(closed, { maintenanceMode: { enabled: false } }).maintenanceMode).toEqual({
      enabled: false,
      uri: 'https://a.test',
    })
  })
  test('of the sleep are in force in part, off at first, and for web services only', () => {
    expect(defaultControls.sleep).toEqual({ mode: 'off', idleSeconds: 900 })
    const sleeping = applyControls(defaultControls, { sleep: { mode: 'freeze' } })
    expect(sleeping.sleep).toEqual({ mode: 'freeze', idleSeconds: 900 })
    expect(applyControls(sleeping, { sleep: { idleSeconds: 60 } }).sleep).toEqual({ mode: 'freeze', idleSeconds: 60 })
    for (const type of ['private_service', 'background_worker', 'static_site'] as const) {
      expect(refusal({ sleep: { mode: 'stop' } }, type)).toEqual(['/serviceDetails/sleep'])
      expect(refusal({ sleep: { mode: 'off' } }, type)).toEqual([])
    }
  })
  test('name every block that is no range, and a page that is no URL', () => {
    const fail = (input: AnyDetailsInput) => {
      try {
        applyControls(defaultControls, input)
      } catch (error) {
        return error instanceof AppError ? { message: error.message, paths: error.details.map(({ path }) => path) } : error
      }
    }
    expect(fail(blocks('10.0.0.0/8', '10.0.0.0/33', 'office'))).toEqual({
      message: '"10.0.0.0/33" is no range of addresses. Write it as 203.0.113.0/24, 203.0.113.7 or 2001:db8::/32.',
      paths: ['/serviceDetails/ipAllowList/1/cidrBlock', '/serviceDetails/ipAllowList/2/cidrBlock'],
    })
    expect(fail({ maintenanceMode: { enabled: true, uri: 'http://[' } })).toMatchObject({ paths: ['/serviceDetails/maintenanceMode/uri'] })
  })
  test('that change nothing are let pass for a type that has none', () => {
    const neutral = { ...blocks('0.0.0.0/0'), maintenanceMode: { enabled: false }, cutoverGuard: { enabled: false } }
    expect(refusal(neutral, 'private_service')).toEqual([])
    expect(refusal(neutral, 'background_worker')).toEqual([])
  })
})
