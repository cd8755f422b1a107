import { describe, expect, test } from 'vitest'
import type { ActorScope } from '../../../../server/http/handlers/call.ts'
import { isScopeWithin } from '../../../../server/identity/scopes/reach.ts'
import { isEnvironmentWithin, isWithin, permissionsWithin, presentScope, scopeColumn } from '../../../../server/identity/scopes/scope.ts'
import { permissionNames } from '../../../../shared/permission.ts'

const service = 'srv-0b1c2d3e4f5g6h7i8j9k'
const staging = 'evm-0b1c2d3e4f5g6h7i8j9k'
const production = 'evm-1b1c2d3e4f5g6h7i8j9k'
const project = 'prj-0b1c2d3e4f5g6h7i8j9k'

const scope = ({ services = [], environments = [], projects = [], reach = [] }: Record<string, string[]>): ActorScope => ({
  serviceIds: new Set(services),
  environmentIds: new Set(environments),
  projectIds: new Set(projects),
  reach: new Set([...environments, ...reach]),
})

describe('a service is within', () => {
  test('the whole workspace, wherever it is', () => {
    expect(isWithin(undefined, { id: service, environmentId: null })).toBe(true)
    expect(isEnvironmentWithin(undefined, null)).toBe(true)
  })

  test('a scope that names it, wherever it is', () => {
    const named = scope({ services: [service] })
    expect(isWithin(named, { id: service, environmentId: production })).toBe(true)
    expect(isEnvironmentWithin(named, production)).toBe(false)
  })

  test('a scope that reaches its environment, and no more when it is in another or in none', () => {
    const placed = scope({ projects: [project], reach: [staging] })
    expect([staging, production, null].map((environmentId) => isWithin(placed, { id: service, environmentId }))).toEqual([
      true,
      false,
      false,
    ])
    expect([staging, production, null].map((environmentId) => isEnvironmentWithin(placed, environmentId))).toEqual([true, false, false])
  })
})

describe('a stored scope', () => {
  test('is read as it was written, and also as it was when there were services only', () => {
    const named = { serviceIds: [service], environmentIds: [staging], projectIds: [project] }
    const stored = scopeColumn.write(scope({ services: [service], environments: [staging], projects: [project] }))
    expect(presentScope(scopeColumn.read(stored))).toEqual(named)
    expect(presentScope(scopeColumn.read(JSON.stringify([service])))).toEqual({ serviceIds: [service] })
  })

  test('of which nothing is left is nothing, and no scope is everything', () => {
    expect(presentScope(scopeColumn.read('[]'))).toEqual({ serviceIds: [] })
    expect(presentScope(scopeColumn.read(null))).toBeNull()
    expect(isWithin(scope({}), { id: service, environmentId: null })).toBe(false)
  })
})

test('who is confined may create where an environment or project is named, and manages nothing of the workspace', () => {
  const all = new Set(permissionNames)
  const held = (named: Record<string, string[]>) => permissionsWithin(scope(named), all)
  expect(held({ services: [service] }).has('services.create')).toBe(false)
  for (const named of [{ environments: [staging] }, { projects: [project] }]) {
    expect(held(named).has('services.create')).toBe(true)
    expect(held(named).has('environments.manage_protected')).toBe(true)
    expect(['projects.manage', 'apikeys.manage', 'team.manage'].filter((name) => (held(named) as Set<string>).has(name))).toEqual([])
  }
  expect(permissionsWithin(undefined, all)).toBe(all)
})

test('a scope lies in another by what it names, so that nothing that is moved later parts them', () => {
  const held = scope({ services: [service], environments: [production], projects: [project], reach: [staging] })
  const lies = (named: Record<string, string[]>) => isScopeWithin(scope(named), held)
  expect(lies({ services: [service] })).toBe(true)
  expect(lies({ environments: [staging, production] })).toBe(true)
  expect(lies({ projects: [project] })).toBe(true)
  expect(isScopeWithin(scope({ projects: [project] }), scope({ environments: [staging] }))).toBe(false)
  expect(isScopeWithin(scope({ services: [service] }), scope({ environments: [staging] }))).toBe(false)
  expect(isScopeWithin(undefined, held)).toBe(false)
  expect(isScopeWithin(undefined, undefined)).toBe(true)
})
