import { Type } from '@sinclair/typebox'
import { EdgeRuleQuery, HeaderRulesInput, PathRulesInput, ServiceHeader, ServiceRoute } from '../edge-rule.ts'
import { defineOperations } from '../operation.ts'
import { PageOf } from '../schema.ts'

const common = {
  tag: 'Services',
  params: Type.Object({ serviceId: Type.String({ description: 'Id of the service' }) }),
  errors: ['not_found'],
} as const
const list = { ...common, method: 'GET', access: 'services.read', query: EdgeRuleQuery } as const
const replace = { ...common, method: 'PUT', access: 'services.update', changes: 'after_waiting' } as const
const atOnce = 'In force at once, in the live release and in those that are on their way. A rollback goes back to the rules of its release.'

export const edgeRuleOperations = defineOperations({
  listHeaders: {
    ...list,
    path: '/v1/services/:serviceId/headers',
    summary: 'List the headers that are set for a service',
    responses: { 200: PageOf('header', ServiceHeader) },
  },
  replaceHeaders: {
    ...replace,
    path: '/v1/services/:serviceId/headers',
    summary: 'Replace all headers that are set for a service',
    description: atOnce,
    body: HeaderRulesInput,
    responses: { 200: Type.Array(ServiceHeader) },
  },
  listRoutes: {
    ...list,
    path: '/v1/services/:serviceId/routes',
    summary: 'List redirects and rewrites of a service',
    responses: { 200: PageOf('route', ServiceRoute) },
  },
  replaceRoutes: {
    ...replace,
    path: '/v1/services/:serviceId/routes',
    summary: 'Replace all redirects and rewrites of a service',
    description: atOnce,
    body: PathRulesInput,
    responses: { 200: Type.Array(ServiceRoute) },
  },
})
