import { Type } from '@sinclair/typebox'
import { DeployHook, DeployHookAnswer, DeployHookQuery } from '../deploy-hook.ts'
import { defineOperations } from '../operation.ts'

const params = Type.Object({ serviceId: Type.String({ description: 'Id of the service' }) })

const hook = {
  path: '/v1/deploy-hooks/:token',
  access: 'public',
  tag: 'Deploys',
  params: Type.Object({ token: Type.String({ maxLength: 200, 'x-secret': true }) }),
  query: DeployHookQuery,
  responses: { 201: DeployHookAnswer },
  errors: ['not_found', 'conflict'],
  takesSecret: false,
  isCrossSite: true,
  changes: 'after_waiting',
} as const

export const deployHookOperations = defineOperations({
  getDeployHook: {
    method: 'GET',
    path: '/v1/services/:serviceId/deploy-hook',
    access: 'deploys.create',
    tag: 'Deploys',
    summary: 'The secret URL that deploys a service',
    params,
    responses: { 200: DeployHook },
    errors: ['not_found'],
  },
  rotateDeployHook: {
    method: 'POST',
    path: '/v1/services/:serviceId/deploy-hook/rotate',
    access: 'deploys.create',
    tag: 'Deploys',
    summary: 'Give a service a new deploy hook',
    description: 'The URL of before is worth nothing from then on.',
    params,
    responses: { 200: DeployHook },
    errors: ['not_found'],
  },
  callDeployHook: { ...hook, method: 'POST', summary: 'Deploy the newest source of the service whose secret URL this is' },
  openDeployHook: { ...hook, method: 'GET', summary: 'Deploy by GET, for those who can do nothing else' },
})
