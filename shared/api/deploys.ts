import { Type } from '@sinclair/typebox'
import { Deploy, DeployCreate, DeployQuery, defaultMaxUploadBytes, RollbackBody, RollbackPlan, Uploaded, uploadTypes } from '../deploy.ts'
import { defineOperations } from '../operation.ts'
import { OneOf, PageOf } from '../schema.ts'

const ServiceParams = Type.Object({ serviceId: Type.String({ description: 'Id of the service' }) })
const DeployParams = Type.Object({ serviceId: Type.String(), deployId: Type.String() })

/** From source to a running release, and back. */
export const deployOperations = defineOperations({
  uploadSource: {
    method: 'POST',
    path: '/v1/services/:serviceId/source/upload',
    access: 'deploys.create',
    tag: 'Deploys',
    summary: 'Upload source and deploy it',
    description: 'A tar.gz or zip as the raw body, or as `file` of a multipart form. `deploy=false` keeps it for a later deploy.',
    params: ServiceParams,
    query: Type.Object({ deploy: Type.Optional(OneOf(['true', 'false'])) }),
    stream: { contentTypes: uploadTypes, maxBytes: defaultMaxUploadBytes, description: 'CP_UPLOAD_MAX_MB' },
    responses: { 201: Uploaded },
    errors: ['not_found', 'conflict', 'payload_too_large', 'unsupported_media_type'],
    creates: true,
  },
  listDeploys: {
    method: 'GET',
    path: '/v1/services/:serviceId/deploys',
    access: 'deploys.read',
    tag: 'Deploys',
    summary: 'List deploys of a service',
    params: ServiceParams,
    query: DeployQuery,
    responses: { 200: PageOf('deploy', Deploy) },
    errors: ['not_found'],
  },
  createDeploy: {
    method: 'POST',
    path: '/v1/services/:serviceId/deploys',
    access: 'deploys.create',
    tag: 'Deploys',
    summary: 'Deploy the newest source, or the one named',
    params: ServiceParams,
    body: DeployCreate,
    bodyOptional: true,
    responses: { 201: Deploy },
    errors: ['not_found', 'conflict'],
    creates: true,
  },
  getDeploy: {
    method: 'GET',
    path: '/v1/services/:serviceId/deploys/:deployId',
    access: 'deploys.read',
    tag: 'Deploys',
    summary: 'One deploy',
    params: DeployParams,
    responses: { 200: Deploy },
    errors: ['not_found'],
  },
  cancelDeploy: {
    method: 'POST',
    path: '/v1/services/:serviceId/deploys/:deployId/cancel',
    access: 'deploys.create',
    tag: 'Deploys',
    summary: 'Cancel a deploy that is on its way',
    params: DeployParams,
    responses: { 200: Deploy },
    errors: ['not_found', 'conflict'],
  },
  rollback: {
    method: 'POST',
    path: '/v1/services/:serviceId/rollback',
    access: 'deploys.create',
    tag: 'Deploys',
    summary: 'Go back to an earlier release: code, variables, secret files and limits',
    description: 'Without `deployId`, to the one that was live before. `dryRun` answers 200 with what would change and changes nothing.',
    params: ServiceParams,
    body: RollbackBody,
    bodyOptional: true,
    responses: { 201: Deploy, 200: RollbackPlan },
    errors: ['not_found', 'conflict'],
    creates: true,
  },
})
