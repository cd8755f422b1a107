import { describe, expect, test } from 'vitest'
import { applyDetails, defaultSettings } from '../../../server/services/settings.ts'
import { AppError } from '../../../shared/error.ts'
import type { ServiceDetailsInput, ServiceType } from '../../../shared/service.ts'

const apply = (input: ServiceDetailsInput, type: ServiceType = 'web_service') => applyDetails(type, defaultSettings, input)

function refusal(input: ServiceDetailsInput, type: ServiceType): string[] {
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
  test('take env for runtime, and refuse two that differ', () => {
    expect(apply({ env: 'go' }).runtime).toBe('go')
    expect(apply({ env: 'go', runtime: 'go' }).runtime).toBe('go')
    expect(refusal({ env: 'go', runtime: 'node' }, 'web_service')).toEqual(['/serviceDetails/env'])
  })
  test.each<[ServiceType, ServiceDetailsInput, string[]]>([
    ['static_site', { plan: 'pro', numInstances: 2 }, ['plan', 'numInstances']],
    ['background_worker', { healthCheckPath: '/health' }, ['healthCheckPath']],
    ['private_service', { healthCheckPath: '/health' }, ['healthCheckPath']],
    ['web_service', { publishPath: 'dist', headers: [] }, ['publishPath', 'headers']],
  ])('that a %s does not have are refused by name', (type, input, fields) => {
    expect(refusal(input, type)).toEqual(fields.map((field) => `/serviceDetails/${field}`))
  })
})
