import type { Deploy } from '../../../../shared/deploy.ts'
import type { ResolvedEnvVar } from '../../../../shared/env.ts'
import type { EnvGroup, TouchedService } from '../../../../shared/env-group.ts'
import { call, type Reply } from '../../../support/client.ts'
import type { FakePlatform } from '../../../support/fake-platform.ts'
import { liveSource } from '../../../support/fake-source.ts'
import type { TestServer } from '../../../support/server.ts'
import { makeService, type TestService } from '../../../support/service.ts'

export interface TestGroup {
  id: string
  name: string
  /** A call below the group's own path. */
  ask<T = EnvGroup>(path: string, options?: { method?: string; json?: unknown; token?: string }): Promise<Reply<T & { message: string }>>
  put(path: string, json: unknown): Promise<EnvGroup>
}

type Variables = Record<string, string>

/** The form in which the API takes variables; values that refer to others are marked. */
export const varsOf = (variables: Variables) =>
  Object.entries(variables).map(([key, value]) => ({ key, value, ...(/\$\{/.test(value) && { interpolate: true }) }))

/** What tests do with groups of variables on a server. */
export function groupsOn(server: Pick<TestServer, 'url' | 'adminToken'>) {
  const ask = <T>(path: string, options: { method?: string; json?: unknown; token?: string } = {}) =>
    call<T>(server.url + path, { token: server.adminToken, ...options })
  let count = 0
  return {
    ask,
    create: (json: unknown, token = server.adminToken) => ask<EnvGroup & { message: string }>('/v1/env-groups', { json, token }),
    async group(variables: Variables = {}, more: Record<string, unknown> = {}): Promise<TestGroup> {
      const name = `group-${++count}`
      const { status, body } = await ask<EnvGroup>('/v1/env-groups', { json: { name, envVars: varsOf(variables), ...more } })
      if (status !== 201) throw new Error(`No group: ${JSON.stringify(body)}`)
      const group: TestGroup = {
        id: body.id,
        name,
        ask: (path, options) => ask(`/v1/env-groups/${body.id}${path}`, options),
        async put(path, json) {
          const reply = await group.ask(path, { method: 'PUT', json })
          if (reply.status !== 200) throw new Error(`Not put: ${JSON.stringify(reply.body)}`)
          return reply.body
        },
      }
      return group
    },
  }
}

/** Links services to groups, in this order. */
export async function link(service: TestService, ...groups: TestGroup[]): Promise<void> {
  for (const group of groups) {
    const { status, body } = await group.ask(`/services/${service.id}`, { method: 'POST' })
    if (status !== 200) throw new Error(`Not linked: ${JSON.stringify(body)}`)
  }
}

let services = 0

/** A service that answers with this text, `$NAME` in it being variables. */
export async function speaking(platform: FakePlatform, text: string, more: Record<string, unknown> = {}): Promise<TestService> {
  const serviceDetails = { runtime: 'node', envSpecificDetails: { startCommand: `listen; say ${text}; serve` } }
  return await makeService(platform, { name: `speaks-${++services}`, serviceDetails, ...more })
}

export async function goLive(platform: FakePlatform, service: TestService): Promise<Deploy> {
  return await liveSource(platform, service)
}

export const says = async (platform: FakePlatform, { name }: TestService): Promise<string> => (await platform.visit(name)).text

export async function setOwn(service: TestService, variables: Variables): Promise<void> {
  const { status, body } = await service.ask('/env-vars', { method: 'PUT', json: varsOf(variables) })
  if (status !== 200) throw new Error(`Not set: ${JSON.stringify(body)}`)
}

/** What the next deploy will give a service, by key. */
export async function resolvedOf(service: TestService): Promise<Map<string, ResolvedEnvVar>> {
  const { body } = await service.ask<{ envVar: ResolvedEnvVar }[]>('/env-vars?resolved=true&limit=100')
  return new Map(body.map(({ envVar }) => [envVar.key, envVar]))
}

/** Names of the services that a change touched, and of what it changed for each. */
export const toldBy = ({ touched = [] }: EnvGroup): Record<string, string> =>
  Object.fromEntries(touched.map(({ name, envVars, secretFiles }) => [name, [...envVars, ...secretFiles].join()]))

/** The deploys that a change made, by the names of their services. */
export const deploysOf = ({ touched = [] }: EnvGroup): Map<string, TouchedService> => new Map(touched.map((one) => [one.name, one]))
