import { Type } from '@sinclair/typebox'
import { DeployKey } from '../deploy-key.ts'
import { defineOperations } from '../operation.ts'

const params = Type.Object({ serviceId: Type.String({ description: 'Id of the service' }) })

export const deployKeyOperations = defineOperations({
  getDeployKey: {
    method: 'GET',
    path: '/v1/services/:serviceId/deploy-key',
    access: 'services.read',
    tag: 'Deploys',
    summary: 'The public key that lets a service in at its repository by ssh',
    description: 'It is made when it is first asked for.',
    params,
    responses: { 200: DeployKey },
    errors: ['not_found'],
  },
  rotateDeployKey: {
    method: 'POST',
    path: '/v1/services/:serviceId/deploy-key/rotate',
    access: 'services.update',
    tag: 'Deploys',
    summary: 'Give a service a new deploy key',
    description: 'The service is let in nowhere until the git server has the new one.',
    params,
    responses: { 200: DeployKey },
    errors: ['not_found'],
  },
  forgetHostKeys: {
    method: 'DELETE',
    path: '/v1/services/:serviceId/deploy-key/host-keys',
    access: 'services.update',
    tag: 'Deploys',
    summary: 'Forget the keys of git servers that a service has come to',
    description: 'The key that a server shows next is trusted. For servers whose operator has changed their key.',
    params,
    responses: { 204: null },
    errors: ['not_found'],
  },
})
