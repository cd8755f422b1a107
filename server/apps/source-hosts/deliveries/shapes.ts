import { Type } from '@sinclair/typebox'
import { PullRequest } from '../pull-request.ts'

const Text = Type.String({ maxLength: 4096 })
const Paths = Type.Optional(Type.Union([Type.Array(Text), Type.Null()]))

const Repository = Type.Object({
  full_name: Text,
  clone_url: Text,
  html_url: Text,
  ssh_url: Type.Optional(Text),
  default_branch: Type.Optional(Text),
})

const Commit = Type.Object({ id: Text, message: Type.String(), added: Paths, removed: Paths, modified: Paths })

export const PushPayload = Type.Object({
  ref: Text,
  after: Text,
  repository: Repository,
  deleted: Type.Optional(Type.Boolean()),
  total_commits: Type.Optional(Type.Integer()),
  commits: Type.Optional(Type.Union([Type.Array(Commit), Type.Null()])),
  head_commit: Type.Optional(Type.Union([Type.Object({ message: Type.String() }), Type.Null()])),
})

export const DeletePayload = Type.Object({ ref: Text, ref_type: Text, repository: Repository })

const Headed = Type.Optional(Type.Object({ head_sha: Type.Optional(Text) }))

export const ChecksPayload = Type.Object({
  repository: Repository,
  sha: Type.Optional(Text),
  commit: Type.Optional(Type.Union([Type.Object({ id: Type.Optional(Text) }), Type.Null()])),
  check_suite: Headed,
  check_run: Headed,
  workflow_run: Headed,
})

export const RequestPayload = Type.Object({ repository: Repository, pull_request: PullRequest })

export const RepositoryPayload = Type.Object({ action: Text, repository: Repository })

export const InstallationPayload = Type.Object({ action: Text, installation: Type.Object({ id: Type.Integer() }) })
