import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { Time } from './schema.ts'

const Fingerprint = Type.String({
  description: 'As `ssh-keygen -l` shows it',
  examples: ['SHA256:uNiVztksCsDhcc0u9e8BrqXVYHkKJgOQ3Pm9A5kKkzU'],
})

const GitHostKey = Type.Object({
  host: Type.String({ description: 'Name of the server, with its port where that is another than 22', examples: ['git.example.com'] }),
  publicKey: Type.String(),
  fingerprint: Fingerprint,
  pinnedAt: Time,
})

/** Lets a service in at repositories by ssh. Its private part is never shown. */
export const DeployKey = Type.Object(
  {
    serviceId: Id('service'),
    publicKey: Type.String({ description: 'What the git server is given, in a line of authorized_keys' }),
    fingerprint: Fingerprint,
    createdAt: Time,
    hostKeys: Type.Array(GitHostKey, { description: 'Keys of git servers, as they were when the service first came there' }),
  },
  { $id: 'DeployKey' },
)
export type DeployKey = Static<typeof DeployKey>
