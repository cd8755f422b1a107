import { describe, expect, test } from 'vitest'
import { defaultSettings } from '../../../../server/apps/services/settings.ts'
import type { StoredInstance } from '../../../../server/apps/workloads/instance-store.ts'
import { type RoutedService, routeOf } from '../../../../server/edge/routing/table.ts'
import { defaultControls } from '../../../../shared/service-controls.ts'

const service = (changes: Partial<RoutedService> = {}): RoutedService => ({
  id: 'srv-a',
  name: 'web',
  slug: 'web',
  type: 'web_service',
  isSuspended: false,
  isAsleep: false,
  hasWoken: false,
  controls: defaultControls,
  release: { id: 'rel-a', folder: '/data/a', settings: defaultSettings },
  instances: [],
  ...changes,
})

const exit = { at: 0, exitCode: 1, signal: null }
const instance = (id: string, phase: StoredInstance['phase'], exits: StoredInstance['exits'] = []) => ({
  id,
  address: '10.201.128.1',
  port: 10_000,
  phase,
  exits,
})
const named = { serviceId: 'srv-a', name: 'web' }
const target = (instanceId: string) => ({ instanceId, host: '10.201.128.1', port: 10_000 })

describe('the route of a service', () => {
  test('leads to the instances that are healthy and to no other', () => {
    const instances = [instance('a', 'serving'), instance('b', 'starting'), instance('c', 'pending', [exit]), instance('d', 'ready')]
    expect(routeOf(service({ instances }))).toEqual({ kind: 'proxy', ...named, targets: [target('a'), target('d')] })
  })
  test('leads nowhere when all have died: another program may listen at their ports by now', () => {
    const instances = [instance('a', 'pending', [exit]), instance('b', 'starting')]
    expect(routeOf(service({ instances }))).toEqual({ kind: 'proxy', ...named, targets: [] })
  })
  test('says that it is not available yet while nothing has been live or started', () => {
    expect(routeOf(service({ release: undefined }))).toEqual({ kind: 'unavailable', ...named, isUndeployed: true })
    expect(routeOf(service({ instances: [instance('a', 'starting')] }))).toEqual({ kind: 'unavailable', ...named })
  })
  test('has requests wait while it is asleep, and while it starts after it was woken, but not once that has failed', () => {
    expect(routeOf(service({ isAsleep: true, instances: [instance('a', 'serving')] }))).toEqual({ kind: 'asleep', ...named })
    expect(routeOf(service({ hasWoken: true, instances: [instance('a', 'starting')] }))).toEqual({ kind: 'asleep', ...named })
    const failing = [instance('a', 'pending', [exit])]
    expect(routeOf(service({ hasWoken: true, instances: failing }))).toEqual({ kind: 'proxy', ...named, targets: [] })
    expect(routeOf(service({ isAsleep: true, isSuspended: true }))).toEqual({ kind: 'suspended', ...named })
  })
  test('says that it is suspended before anything else', () => {
    expect(routeOf(service({ isSuspended: true, instances: [instance('a', 'serving')] }))).toEqual({ kind: 'suspended', ...named })
    expect(routeOf(service({ isSuspended: true, type: 'static_site' }))).toEqual({ kind: 'suspended', ...named })
  })
  test('of a static site leads to its files, with the rules it was released with', () => {
    const headers = [{ path: '/*', name: 'X-A', value: '1' }]
    const routes = [{ type: 'rewrite' as const, source: '/*', destination: '/index.html' }]
    const release = { id: 'rel-a', folder: '/data/a', settings: { ...defaultSettings, headers, routes } }
    expect(routeOf(service({ type: 'static_site', release }))).toEqual({
      kind: 'static',
      ...named,
      releaseId: 'rel-a',
      root: '/data/a',
      headers,
      rules: routes,
    })
  })
})

describe('the policy of a route', () => {
  const controls = (changes: Partial<RoutedService['controls']>) => ({ ...defaultControls, ...changes })
  const office = [{ cidrBlock: '192.0.2.0/24', description: 'office' }]
  const rules = {
    headers: [{ path: '/*', name: 'X-A', value: '1' }],
    routes: [{ type: 'redirect' as const, source: '/a', destination: '/b' }],
  }
  const release = { id: 'rel-a', folder: '/data/a', settings: { ...defaultSettings, ...rules } }

  test('holds what differs from a service that anybody reaches', () => {
    const open = { maintenanceMode: { enabled: true, uri: '' }, ipAllowList: office }
    expect(routeOf(service({ controls: controls(open), release })).policy).toEqual({
      allow: ['192.0.2.0/24'],
      maintenance: {},
      rules: rules.routes,
      headers: rules.headers,
    })
    const elsewhere = { maintenanceMode: { enabled: true, uri: 'https://status.example.com' }, ipAllowList: [] }
    expect(routeOf(service({ controls: controls(elsewhere) })).policy).toEqual({
      allow: [],
      maintenance: { uri: 'https://status.example.com' },
    })
  })
  test('lets everybody in where one entry does', () => {
    const everywhere = [...office, { cidrBlock: '0.0.0.0/0', description: '' }]
    expect(routeOf(service({ controls: controls({ ipAllowList: everywhere }) })).policy).toBeUndefined()
  })
  test('of a static site has no rules: they stand in its route', () => {
    expect(routeOf(service({ type: 'static_site', release })).policy).toBeUndefined()
  })
  test('holds for what is suspended or not live yet, too', () => {
    const closed = controls({ ipAllowList: [] })
    expect(routeOf(service({ controls: closed, isSuspended: true })).policy).toEqual({ allow: [] })
    expect(routeOf(service({ controls: closed, release: undefined })).policy).toEqual({ allow: [] })
  })
})
