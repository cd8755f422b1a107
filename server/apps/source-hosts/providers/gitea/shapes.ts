import { Type } from '@sinclair/typebox'
import { PullRequest } from '../../pull-request.ts'

const Text = Type.String({ maxLength: 2048 })
const Whole = Type.Integer({ minimum: 0 })

export const GiteaUser = Type.Object({ id: Whole, login: Text })

export const GiteaRepository = Type.Object({
  full_name: Type.String({ maxLength: 512, pattern: '^[^/\\s]+/[^/\\s]+$' }),
  clone_url: Text,
  html_url: Text,
  private: Type.Boolean(),
  default_branch: Text,
})

export const GiteaRepositories = Type.Array(GiteaRepository, { maxItems: 100 })

export const GiteaHook = Type.Object({ id: Whole, config: Type.Object({ url: Type.Optional(Type.String()) }) })
export const GiteaHooks = Type.Array(GiteaHook, { maxItems: 1000 })

export const GiteaStatuses = Type.Object({
  statuses: Type.Union([Type.Array(Type.Object({ status: Text, context: Text }), { maxItems: 10_000 }), Type.Null()]),
})

export const GiteaMade = Type.Object({ id: Whole })
export const GiteaComments = Type.Array(Type.Object({ id: Whole, body: Type.String() }), { maxItems: 10_000 })
export const GiteaRequests = Type.Array(PullRequest, { maxItems: 100 })
