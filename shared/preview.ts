import { type Static, Type } from '@sinclair/typebox'
import { withOption } from './cli-option.ts'
import { EnvKey, maxEnvValueChars } from './env.ts'
import { Id } from './id.ts'
import { OneOf, PageQuery, StrictObject, Time } from './schema.ts'

/** When a pull request gets a service of its own that shows it: never, always, or where somebody asks for it. */
const previewGenerations = ['off', 'manual', 'automatic'] as const

const MAX_DAYS = 365
const Generation = OneOf(previewGenerations, 'manual: for requests with the label `preview`, and where somebody asks for it')

export const PreviewsInput = StrictObject({
  generation: Type.Optional(
    withOption(
      { name: 'previews', value: 'when', help: 'Whether pull requests get previews: off, manual or automatic', isAtOnce: true },
      Generation,
    ),
  ),
  expireAfterDays: Type.Optional(
    withOption(
      { name: 'previews-expire', value: 'days', help: 'Days without a push after which a preview goes; 0: none', isAtOnce: true },
      Type.Integer({ minimum: 0, maximum: MAX_DAYS, description: 'Days without a push after which a preview is deleted; 0: none' }),
    ),
  ),
})

export const PreviewRule = Type.Object({ generation: Generation, expireAfterDays: Type.Integer() })
export type PreviewRule = Static<typeof PreviewRule>

export const noPreviews: PreviewRule = { generation: 'off', expireAfterDays: 0 }

/** Requests whose title has this are left alone, as at Render. */
export const skipPreviewMark = /\[(?:skip preview|preview skip)\]/i

/** Label that asks for a preview where they are made by hand. */
export const previewLabel = 'preview'

/** Most previews that there are at once. */
export const maxPreviews = { ofService: 20, ofWorkspace: 50 } as const

const previewStatuses = [
  'not_asked_for',
  'awaiting_approval',
  'waiting',
  'deploying',
  'live',
  'failed',
  'deleted',
  'expired',
  'closed',
] as const
export type PreviewStatus = (typeof previewStatuses)[number]

const Commit = Type.String({ pattern: '^(?:[0-9a-f]{40}|[0-9a-f]{64})$', examples: ['059687b45a782744267f583f97d2a0d0b2e820fe'] })

export const Preview = Type.Object(
  {
    number: Type.Integer({ description: 'Number of the pull request at its host' }),
    parentId: Id('service'),
    status: OneOf(
      previewStatuses,
      'awaiting_approval: it comes from a fork, and nobody has approved this commit; waiting: `problem` says for what',
    ),
    title: Type.String(),
    requestUrl: Type.String({ description: 'Page of the request' }),
    branch: Type.String(),
    commitId: Type.String({ description: 'Newest commit of the request' }),
    repository: Type.String({ description: 'owner/name that the commit comes from; empty where that is gone' }),
    fork: Type.Boolean({ description: 'Whether that is another repository than the one of the service' }),
    approvedCommitId: Type.Optional(Type.String({ description: 'Of a fork: the commit that somebody has approved' })),
    deployedCommitId: Type.Optional(Type.String({ description: 'What the preview was deployed with last' })),
    service: Type.Optional(Type.Object({ id: Id('service'), name: Type.String(), url: Type.String() })),
    problem: Type.Optional(Type.String({ description: 'Why there is no preview of the newest commit, and what to do next' })),
    expiresAt: Type.Optional(Time),
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: 'Preview' },
)
export type Preview = Static<typeof Preview>

export const PreviewQuery = Type.Object({ ...PageQuery })

/** Number of a request as it stands in a path. */
export const RequestNumber = Type.String({ pattern: '^[1-9][0-9]{0,8}$', description: 'Number of the pull request' })

export const PreviewCreate = StrictObject(
  { number: Type.Integer({ minimum: 1, maximum: 999_999_999, description: 'Number of the pull request' }) },
  { examples: [{ number: 12 }] },
)

export const PreviewApprove = StrictObject({ commitId: Commit }, { examples: [{ commitId: '059687b45a782744267f583f97d2a0d0b2e820fe' }] })

/** `value` is `""` and `hidden` true for callers without `env.read`. */
export const PreviewValue = Type.Object({ key: EnvKey, value: Type.String(), hidden: Type.Optional(Type.Literal(true)) })
export type PreviewValue = Static<typeof PreviewValue>

export const PreviewValueInput = StrictObject(
  { value: Type.String({ maxLength: maxEnvValueChars, pattern: '^[^\\u0000]*$', examples: ['sandbox'], 'x-secret': true }) },
  { examples: [{ value: 'sandbox' }] },
)
