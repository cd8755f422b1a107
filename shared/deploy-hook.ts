import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { Time } from './schema.ts'

/** Whoever has the URL can deploy the service, and do nothing else. */
export const DeployHook = Type.Object(
  {
    serviceId: Id('service'),
    url: Type.String({ description: 'Secret: a GET or POST deploys the branch of the service, or its newest source', 'x-secret': true }),
    createdAt: Time,
  },
  { $id: 'DeployHook' },
)
export type DeployHook = Static<typeof DeployHook>

export const DeployHookQuery = Type.Object({
  ref: Type.Optional(Type.String({ maxLength: 255, description: 'Branch, tag or commit of the repository of the service' })),
  imageUrl: Type.Optional(Type.String({ maxLength: 2048, description: 'Image to deploy: refused while no images are run' })),
})
export type DeployHookQuery = Static<typeof DeployHookQuery>

export const DeployHookAnswer = Type.Object({ deploy: Type.Object({ id: Id('deploy') }) })
