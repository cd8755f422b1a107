import { Type } from '@sinclair/typebox'
import { defineOperations } from '../operation.ts'
import { PageOf } from '../schema.ts'
import {
  GiteaConnect,
  GithubManifest,
  maxDeliveryBytes,
  Repository,
  RepositoryQuery,
  SourceHostInstall,
  SourceHostInstallation,
  SourceHostQuery,
  SourceHostStatus,
  unavailableHeader,
} from '../source-host.ts'

const tag = 'Source hosts'

const status = {
  method: 'GET',
  access: 'sourcehosts.read',
  tag,
  summary: 'Whether repositories of a source host can be deployed',
  query: SourceHostQuery,
  responses: { 200: SourceHostStatus },
} as const

const repos = {
  method: 'GET',
  access: 'sourcehosts.read',
  tag,
  summary: 'Repositories that this workspace is let into',
  description: `Of the accounts that the workspace is connected to, and of no others. Accounts whose host cannot be asked now are left out, and named by their ids in \`${unavailableHeader}\`; 503 says why where that is all of them. 501 names the settings while nothing is configured.`,
  query: RepositoryQuery,
  responses: { 200: PageOf('repo', Repository) },
  errors: ['not_configured', 'not_found'],
} as const

const install = {
  method: 'GET',
  access: 'sourcehosts.manage',
  tag,
  summary: 'Where a browser goes to connect an account',
  description: 'For a person who is signed in the URL is good for ten minutes, and for their own browser only.',
  query: SourceHostQuery,
  responses: { 200: SourceHostInstall },
  errors: ['not_configured'],
} as const

const webhook = {
  method: 'POST',
  access: 'public',
  takesSecret: false,
  isCrossSite: true,
  changes: 'after_waiting',
  tag,
  stream: { contentTypes: ['application/json'], maxBytes: maxDeliveryBytes, description: 'fixed' },
  responses: { 202: null },
  errors: ['payload_too_large', 'unauthorized'],
} as const

const code = Type.Optional(Type.String({ maxLength: 512, description: 'What GitHub gives for the account', 'x-secret': true }))
const state = Type.Optional(Type.String({ maxLength: 512, description: 'What it was begun with', 'x-secret': true }))

const wayBack = { method: 'GET', access: 'public', changes: 'after_waiting', takesSecret: true, tag, responses: { 303: null } } as const

/** Hosts of repositories: GitHub and Gitea, each under its own name, and all of them under `sourcehost`. */
export const sourceHostOperations = defineOperations({
  getSourceHostStatus: { ...status, path: '/v1/sourcehost/status' },
  getGithubStatus: { ...status, path: '/v1/github/status' },
  getGiteaStatus: { ...status, path: '/v1/gitea/status' },
  listSourceHostRepos: { ...repos, path: '/v1/sourcehost/repos' },
  listGithubRepos: { ...repos, path: '/v1/github/repos' },
  listGiteaRepos: { ...repos, path: '/v1/gitea/repos' },
  getSourceHostInstall: { ...install, path: '/v1/sourcehost/install' },
  getGithubInstall: { ...install, path: '/v1/github/install' },
  getGiteaInstall: { ...install, path: '/v1/gitea/install' },
  connectGitea: {
    method: 'POST',
    path: '/v1/gitea/installations',
    access: 'sourcehosts.manage',
    changes: 'after_waiting',
    tag,
    summary: 'Connect an account of the Gitea by an access token',
    description: 'The token is tried, kept encrypted, and never shown. One that is connected already gets the new token.',
    body: GiteaConnect,
    responses: { 201: SourceHostInstallation },
    errors: ['not_configured', 'conflict'],
  },
  disconnectSourceHost: {
    method: 'DELETE',
    path: '/v1/sourcehost/installations/:installationId',
    access: 'sourcehosts.manage',
    tag,
    summary: 'Disconnect an account',
    description: 'Services stay as they are, and are no longer deployed by pushes to its private repositories.',
    params: Type.Object({ installationId: Type.String({ description: 'Id of the installation' }) }),
    responses: { 204: null },
    errors: ['not_found'],
  },
  beginGithubApp: {
    method: 'GET',
    path: '/v1/github/manifest',
    access: 'sourcehosts.manage',
    tag,
    summary: 'What a browser posts to GitHub to make an app for this workspace',
    query: SourceHostQuery,
    responses: { 200: GithubManifest },
    errors: ['conflict'],
  },
  completeGithubApp: {
    ...wayBack,
    path: '/v1/github/manifest/callback',
    summary: 'Where GitHub sends the browser back to when the app is made',
    query: Type.Object({ code, state }),
  },
  completeGithubInstall: {
    ...wayBack,
    path: '/v1/github/callback',
    summary: 'Where GitHub sends the browser back to when the app is installed',
    query: Type.Object({
      code,
      state,
      installation_id: Type.Optional(Type.String({ maxLength: 20, pattern: '^[0-9]+$' })),
      setup_action: Type.Optional(Type.String({ maxLength: 20 })),
    }),
  },
  receiveGithubDelivery: {
    ...webhook,
    path: '/v1/github/webhook',
    summary: 'Deliveries of GitHub, signed by X-Hub-Signature-256',
  },
  receiveGiteaDelivery: {
    ...webhook,
    path: '/v1/gitea/webhook',
    summary: 'Deliveries of a Gitea, signed by X-Gitea-Signature',
    query: Type.Object({
      installation: Type.Optional(Type.String({ maxLength: 64 })),
      repo: Type.Optional(Type.String({ maxLength: 512, description: 'owner/name' })),
    }),
  },
})
