import { Type } from '@sinclair/typebox'
import { defaultMaxHistoryBytes } from '../git.ts'
import { defineOperations } from '../operation.ts'
import { OneOf } from '../schema.ts'

const params = Type.Object({
  ownerId: Type.String({ description: 'Id of the workspace' }),
  serviceId: Type.String({ maxLength: 200, description: 'Name or id of the service, with .git behind or without' }),
})

const repository = { tag: 'Git', params, takesBasic: true, errors: ['not_found', 'not_configured'] } as const

/** What git itself speaks (gitprotocol-http(5)); nobody else has to. */
export const gitOperations = defineOperations({
  gitInfoRefs: {
    ...repository,
    method: 'GET',
    path: '/git/:ownerId/:serviceId/info/refs',
    access: 'deploys.read',
    inProtected: 'depends',
    summary: "What git asks first: the refs of a service's repository",
    description:
      'With an API key as the password, whatever the user name: `git push https://<this server>/git/<workspace>/<service>.git main` deploys. ' +
      'For a push it needs `deploys.create`.',
    query: Type.Object({ service: OneOf(['git-upload-pack', 'git-receive-pack']) }),
    responses: { 200: Type.String() },
    plain: 'application/x-git-upload-pack-advertisement',
  },
  gitUploadPack: {
    ...repository,
    method: 'POST',
    path: '/git/:ownerId/:serviceId/git-upload-pack',
    access: 'deploys.read',
    inProtected: 'refused',
    changes: 'after_waiting',
    summary: 'What git fetches and clones by',
    stream: { contentTypes: ['application/x-git-upload-pack-request'], maxBytes: 16 * 1024 * 1024, description: 'fixed' },
    responses: { 200: Type.String() },
    errors: [...repository.errors, 'payload_too_large', 'unsupported_media_type'],
    plain: 'application/x-git-upload-pack-result',
  },
  gitReceivePack: {
    ...repository,
    method: 'POST',
    path: '/git/:ownerId/:serviceId/git-receive-pack',
    access: 'deploys.create',
    changes: 'after_waiting',
    summary: 'What git pushes by: a push to the branch that deploys is taken when its deploy is live',
    stream: { contentTypes: ['application/x-git-receive-pack-request'], maxBytes: defaultMaxHistoryBytes, description: 'CP_GIT_MAX_MB' },
    responses: { 200: Type.String() },
    errors: [...repository.errors, 'conflict', 'payload_too_large', 'unsupported_media_type'],
    plain: 'application/x-git-receive-pack-result',
  },
})
