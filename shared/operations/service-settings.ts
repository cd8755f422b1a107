import { Type } from '@sinclair/typebox'
import { EnvKey, EnvValueInput, EnvVar, EnvVarsBody, PlatformEnvVar, SecretFile, SecretFilesBody } from '../env.ts'
import { defineOperations } from '../operation.ts'
import { PageOf, PageQuery } from '../schema.ts'

const ServiceParams = Type.Object({ serviceId: Type.String({ description: 'Id of the service' }) })
const KeyParams = Type.Object({ serviceId: Type.String(), key: EnvKey })

/** What a service is given when it starts: variables and secret files. None of these deploys. */
export const serviceSettingOperations = defineOperations({
  listPlatformEnv: {
    method: 'GET',
    path: '/v1/services/:serviceId/platform-env',
    access: 'services.read',
    tag: 'Environment',
    summary: 'Variables that the platform itself gives to every instance',
    params: ServiceParams,
    responses: { 200: Type.Array(Type.Object({ envVar: PlatformEnvVar })) },
    errors: ['not_found'],
  },
  listEnvVars: {
    method: 'GET',
    path: '/v1/services/:serviceId/env-vars',
    access: 'services.read',
    tag: 'Environment',
    summary: 'List environment variables',
    description: 'Values are shown to holders of `env.read`; others get the keys.',
    params: ServiceParams,
    query: Type.Object(PageQuery),
    responses: { 200: PageOf('envVar', EnvVar) },
    errors: ['not_found'],
  },
  replaceEnvVars: {
    method: 'PUT',
    path: '/v1/services/:serviceId/env-vars',
    access: 'env.write',
    tag: 'Environment',
    summary: 'Replace all environment variables',
    params: ServiceParams,
    body: EnvVarsBody,
    responses: { 200: PageOf('envVar', EnvVar) },
    errors: ['not_found'],
  },
  getEnvVar: {
    method: 'GET',
    path: '/v1/services/:serviceId/env-vars/:key',
    access: 'services.read',
    tag: 'Environment',
    summary: 'One environment variable',
    params: KeyParams,
    responses: { 200: EnvVar },
    errors: ['not_found'],
  },
  setEnvVar: {
    method: 'PUT',
    path: '/v1/services/:serviceId/env-vars/:key',
    access: 'env.write',
    tag: 'Environment',
    summary: 'Add or change one environment variable',
    params: KeyParams,
    body: EnvValueInput,
    responses: { 200: EnvVar },
    errors: ['not_found'],
  },
  deleteEnvVar: {
    method: 'DELETE',
    path: '/v1/services/:serviceId/env-vars/:key',
    access: 'env.write',
    tag: 'Environment',
    summary: 'Remove one environment variable',
    params: KeyParams,
    responses: { 204: null },
    errors: ['not_found'],
  },
  listSecretFiles: {
    method: 'GET',
    path: '/v1/services/:serviceId/secret-files',
    access: 'services.read',
    tag: 'Environment',
    summary: 'List secret files',
    description: 'Contents are shown to holders of `env.read`; others get the names.',
    params: ServiceParams,
    query: Type.Object(PageQuery),
    responses: { 200: PageOf('secretFile', SecretFile) },
    errors: ['not_found'],
  },
  replaceSecretFiles: {
    method: 'PUT',
    path: '/v1/services/:serviceId/secret-files',
    access: 'env.write',
    tag: 'Environment',
    summary: 'Replace all secret files',
    params: ServiceParams,
    body: SecretFilesBody,
    responses: { 200: PageOf('secretFile', SecretFile) },
    errors: ['not_found'],
  },
})
