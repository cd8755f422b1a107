import { type Static, Type } from '@sinclair/typebox'
import type { HostRequestToMerge } from './port.ts'

const Text = Type.String({ maxLength: 4096 })
const Nullable = <T extends ReturnType<typeof Type.Object>>(schema: T) => Type.Union([schema, Type.Null()])

const End = Type.Object({ ref: Text, sha: Text })
const HeadRepository = Type.Object({ id: Type.Integer(), full_name: Text })
const BaseRepository = Type.Object({ id: Type.Integer(), full_name: Text, default_branch: Text })

/** What GitHub and Gitea say of a request alike, in lists and deliveries. */
export const PullRequest = Type.Object({
  number: Type.Integer({ minimum: 1 }),
  title: Type.String(),
  html_url: Text,
  state: Text,
  head: Type.Composite([End, Type.Object({ repo: Type.Optional(Nullable(HeadRepository)) })]),
  base: Type.Composite([End, Type.Object({ repo: BaseRepository })]),
  labels: Type.Optional(Type.Union([Type.Array(Type.Object({ name: Text })), Type.Null()])),
})

const TITLE_CHARS = 200

/** Who is no longer known to be of the repository is taken for a stranger. */
export const requestOf = ({ number, title, html_url, state, head, base, labels }: Static<typeof PullRequest>): HostRequestToMerge => ({
  number,
  title: title.slice(0, TITLE_CHARS),
  url: html_url,
  isOpen: state === 'open',
  isFork: head.repo?.id !== base.repo.id,
  branch: head.ref,
  repository: head.repo?.full_name ?? '',
  commit: head.sha,
  into: { branch: base.ref, isDefault: base.ref === base.repo.default_branch },
  labels: (labels ?? []).map(({ name }) => name),
})
