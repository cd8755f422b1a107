import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { OneOf, PageQuery, StrictObject, Time } from './schema.ts'

export const sourceHostNames = ['github', 'gitea'] as const
export type SourceHostName = (typeof sourceHostNames)[number]

export const sourceHostTitles: Readonly<Record<SourceHostName, string>> = { github: 'GitHub', gitea: 'Gitea or Forgejo' }

/** Page of the server on which a browser connects a host. */
export const sourceHostPath = (name: SourceHostName, workspaceId: string): string => `/source-hosts/${name}?ownerId=${workspaceId}`

/** Why a browser comes back from a host without a connection, in words for people. */
export const sourceHostProblems = {
  expired: 'It took too long, or was begun in another browser or by another person. Begin again.',
  not_allowed: 'You may not connect source hosts in this workspace. Ask an administrator.',
  not_yours: 'This account is not yours to connect. Ask one of its owners to connect it.',
  taken: 'Another workspace is connected to this account. Disconnect it there first.',
  full: 'This workspace is connected to as many accounts as there can be.',
  unreachable: 'The host did not answer as expected. Try again; the log of the server says more.',
} as const
export type SourceHostProblem = keyof typeof sourceHostProblems

export const SourceHostInstallation = Type.Object(
  {
    id: Id('sourceHostInstallation'),
    provider: OneOf(sourceHostNames),
    account: Type.String({ description: 'Login of the person or organization there' }),
    url: Type.String({ description: 'The host that it is at' }),
    problem: Type.Optional(Type.String({ description: 'Why it cannot be used, and what to do next' })),
    createdAt: Time,
  },
  { $id: 'SourceHostInstallation', additionalProperties: false },
)
export type SourceHostInstallation = Static<typeof SourceHostInstallation>

export const SourceHostStatus = Type.Object(
  {
    configured: Type.Boolean({ description: 'Whether there is anything to connect to: an app at GitHub, the URL of a Gitea' }),
    installed: Type.Boolean({ description: 'Whether this workspace is connected to an account there' }),
    account: Type.Optional(Type.String({ description: 'The first of them' })),
    providers: Type.Array(
      Type.Object({
        name: OneOf(sourceHostNames),
        configured: Type.Boolean(),
        url: Type.String(),
        connectUrl: Type.String({ description: 'Page on which a person connects an account' }),
      }),
    ),
    installations: Type.Array(SourceHostInstallation),
  },
  { $id: 'SourceHostStatus', additionalProperties: false },
)
export type SourceHostStatus = Static<typeof SourceHostStatus>

export const Repository = Type.Object(
  {
    name: Type.String({ description: 'owner/name', examples: ['acme/shop'] }),
    provider: OneOf(sourceHostNames),
    installationId: Id('sourceHostInstallation'),
    cloneUrl: Type.String({ description: 'What a service has as `repo`' }),
    url: Type.String({ description: 'Its page' }),
    private: Type.Boolean(),
    defaultBranch: Type.String(),
  },
  { $id: 'Repository', additionalProperties: false },
)
export type Repository = Static<typeof Repository>

const ownerId = Type.Optional(Type.String({ maxLength: 64, description: 'Id of the workspace; default: that of the caller' }))

export const SourceHostQuery = Type.Object({ ownerId })

export const RepositoryQuery = Type.Object({
  ownerId,
  search: Type.Optional(Type.String({ maxLength: 200, description: 'Part of owner/name' })),
  installationId: Type.Optional(Type.String({ maxLength: 64, description: 'Only those of this connected account' })),
  ...PageQuery,
})
export type RepositoryQuery = Static<typeof RepositoryQuery>

export const SourceHostInstall = Type.Object({ url: Type.String({ description: 'Where a browser goes to connect an account' }) })

export const GiteaConnect = StrictObject(
  {
    ownerId,
    token: Type.String({
      minLength: 1,
      maxLength: 512,
      pattern: '^[!-~]+$',
      'x-secret': true,
      description: 'Access token with the scopes read:user and write:repository',
      examples: ['059687b45a782744267f583f97d2a0d0b2e820fe'],
    }),
  },
  { examples: [{ token: '059687b45a782744267f583f97d2a0d0b2e820fe' }] },
)
export type GiteaConnect = Static<typeof GiteaConnect>

export const GithubManifest = Type.Object({
  action: Type.String({ description: 'Where a browser posts the manifest' }),
  manifest: Type.String({ description: 'JSON that describes the app' }),
})
export type GithubManifest = Static<typeof GithubManifest>

/** Header of a list of repositories: ids of the installations whose hosts could not be asked. */
export const unavailableHeader = 'X-Unavailable-Installations'

/** Largest delivery that is taken, in bytes: pushes of some thousand commits. */
export const maxDeliveryBytes = 2 * 1024 * 1024
