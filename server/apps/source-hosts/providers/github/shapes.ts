import { Type } from '@sinclair/typebox'
import { PullRequest } from '../../pull-request.ts'

const Text = Type.String({ maxLength: 2048 })
const Whole = Type.Integer({ minimum: 0 })

export const GithubRepository = Type.Object({
  full_name: Type.String({ maxLength: 512, pattern: '^[^/\\s]+/[^/\\s]+$' }),
  clone_url: Text,
  html_url: Text,
  private: Type.Boolean(),
  default_branch: Text,
})
export const GithubRepositories = Type.Object({ total_count: Whole, repositories: Type.Array(GithubRepository, { maxItems: 100 }) })

export const GithubStatuses = Type.Object({ statuses: Type.Array(Type.Object({ state: Text, context: Text }), { maxItems: 1000 }) })
export const GithubCheckRuns = Type.Object({
  check_runs: Type.Array(Type.Object({ name: Text, status: Text, conclusion: Type.Union([Text, Type.Null()]) }), { maxItems: 1000 }),
})

export const GithubMade = Type.Object({ id: Whole })
export const GithubComments = Type.Array(Type.Object({ id: Whole, body: Type.Optional(Type.String()) }), { maxItems: 10_000 })
export const GithubRequests = Type.Array(PullRequest, { maxItems: 100 })
export const GithubDeployments = Type.Array(GithubMade, { maxItems: 100 })

export const GithubConversion = Type.Object({
  id: Whole,
  slug: Text,
  client_id: Text,
  client_secret: Text,
  webhook_secret: Type.Union([Text, Type.Null()]),
  pem: Type.String({ maxLength: 16_384 }),
})

export const GithubApp = Type.Object({ slug: Text })
export const GithubUserToken = Type.Object({ access_token: Text })
export const GithubUser = Type.Object({ id: Whole, login: Text })
const Account = Type.Object({ id: Whole, login: Text, type: Text })
export const GithubInstallations = Type.Object({
  installations: Type.Array(Type.Object({ id: Whole, account: Account }), { maxItems: 100 }),
})
export const GithubMembership = Type.Object({ state: Text, role: Text })
