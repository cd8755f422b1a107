import { Type } from '@sinclair/typebox'
import { EnvKey } from '../env.ts'
import { defineOperations } from '../operation.ts'
import { Preview, PreviewApprove, PreviewCreate, PreviewQuery, PreviewValue, PreviewValueInput, RequestNumber } from '../preview.ts'
import { PageOf } from '../schema.ts'

const tag = 'Previews'
const serviceId = Type.String({ description: 'Id of the service whose requests are shown' })
const ServiceParams = Type.Object({ serviceId })
const RequestParams = Type.Object({ serviceId, request: RequestNumber })
const KeyParams = Type.Object({ serviceId, key: EnvKey })

/** Pull requests of the repository of a service, and the services that show them. */
export const previewOperations = defineOperations({
  listPreviews: {
    method: 'GET',
    path: '/v1/services/:serviceId/previews',
    access: 'services.read',
    tag,
    summary: 'Pull requests of a service, and their previews',
    params: ServiceParams,
    query: PreviewQuery,
    responses: { 200: PageOf('preview', Preview) },
    errors: ['not_found'],
  },
  createPreview: {
    method: 'POST',
    path: '/v1/services/:serviceId/previews',
    access: 'deploys.create',
    changes: 'after_waiting',
    tag,
    summary: 'Ask for the preview of a pull request',
    description: 'The source host is asked for the request. One that comes from a fork is deployed when its commit is approved.',
    params: ServiceParams,
    body: PreviewCreate,
    responses: { 200: Preview },
    errors: ['not_found', 'conflict', 'unavailable'],
  },
  approvePreview: {
    method: 'POST',
    path: '/v1/services/:serviceId/previews/:request/approve',
    access: 'deploys.create',
    tag,
    summary: 'Have one commit of a fork built and run',
    description: 'It has to be the newest one of the request. What is pushed later needs an approval of its own.',
    params: RequestParams,
    body: PreviewApprove,
    responses: { 200: Preview },
    errors: ['not_found', 'conflict'],
  },
  deletePreview: {
    method: 'DELETE',
    path: '/v1/services/:serviceId/previews/:request',
    access: 'services.delete',
    inProtected: 'refused',
    tag,
    summary: 'Delete the preview of a pull request',
    description: 'The next push to the request makes one again, unless previews are made by hand.',
    params: RequestParams,
    responses: { 204: null },
    errors: ['not_found'],
  },
  listPreviewValues: {
    method: 'GET',
    path: '/v1/services/:serviceId/preview-values',
    access: 'services.read',
    inProtected: 'hidden',
    tag,
    summary: 'Values that variables have in previews',
    description: 'Values are shown to holders of `env.read`; others get the keys.',
    params: ServiceParams,
    query: PreviewQuery,
    responses: { 200: PageOf('previewValue', PreviewValue) },
    errors: ['not_found'],
  },
  setPreviewValue: {
    method: 'PUT',
    path: '/v1/services/:serviceId/preview-values/:key',
    access: 'env.write',
    inProtected: 'hidden',
    tag,
    summary: 'Say what a variable is in previews',
    description:
      'It stands in the place of the value that the service or one of its groups has, and is all that previews of forks are given.',
    params: KeyParams,
    body: PreviewValueInput,
    responses: { 200: PreviewValue },
    errors: ['not_found'],
  },
  deletePreviewValue: {
    method: 'DELETE',
    path: '/v1/services/:serviceId/preview-values/:key',
    access: 'env.write',
    tag,
    summary: 'Have a variable be in previews what it is elsewhere',
    params: KeyParams,
    responses: { 204: null },
    errors: ['not_found'],
  },
})
