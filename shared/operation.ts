import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { ErrorCode } from './error.ts'
import type { Permission } from './permission.ts'

/** Who may call: anybody, anybody with a valid credential, or holders of a permission. */
export type Access = 'public' | 'authenticated' | Permission

/**
 * What an operation does with a thing in a protected environment, for callers without `environments.manage_protected`: it is refused,
 * values are left out of its answer, or its handler decides by what is asked.
 */
export type Protection = 'refused' | 'hidden' | 'depends'

export interface StreamBody {
  contentTypes: readonly string[]
  /** Name of the setting that bounds it, and its default in bytes. */
  maxBytes: number
  description: string
}

export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  access: Access
  /** Declared by whatever destroys or reveals. */
  inProtected?: Protection
  /** For people who are signed in: keys and the static token have no account of their own. */
  usersOnly?: true
  tag: string
  summary: string
  description?: string
  params?: TObject
  query?: TObject
  body?: TSchema
  bodyOptional?: true
  /** Takes the fields of its body as a form as well, as clients of OAuth send them. */
  form?: true
  stream?: StreamBody
  /** The body schema of each success status; `null` where there is no body. The first is the usual one. */
  responses: Record<number, TSchema | null>
  /** Errors beyond those every route can give (400, 401, 403, 404 of a workspace, 429, 500, 503). */
  errors?: readonly ErrorCode[]
  /** Counts against the limit on sign-ins. Public changes do unless they say no, as a device that waits asks every few seconds. */
  takesSecret?: boolean
  /** Takes a key or token as the password of HTTP Basic as well, as programs send it that know nothing else. */
  takesBasic?: true
  /** Browsers are sent here by pages of other sites. Cookies count for nothing, so that those pages act for nobody. */
  isCrossSite?: true
  /** The handler waits (for a hash, an upload) before its change, so it opens the transaction itself; all others are within one. */
  changes?: 'after_waiting'
  /** POSTs that create honour `Idempotency-Key`. */
  creates?: true
  webSocket?: true
  /** Answers HTML as well as JSON, chosen by `Accept`. */
  html?: true
  /** Answers text in place of JSON: plain, or of this content type. */
  plain?: true | 'application/x-ndjson' | 'application/gzip' | `application/x-git-${string}`
}

/** Keeps the literal types of a table of operations while checking each entry. */
export const defineOperations = <const T extends Record<string, Operation>>(table: T): T => table

type StaticOr<T, Absent> = T extends TSchema ? Static<T> : Absent
export type ParamsOf<O extends Operation> = StaticOr<O['params'], Record<never, string>>
export type QueryOf<O extends Operation> = StaticOr<O['query'], Record<never, never>>
export type BodyOf<O extends Operation> = O extends { bodyOptional: true }
  ? StaticOr<O['body'], undefined> | undefined
  : StaticOr<O['body'], undefined>
export type ReplyOf<O extends Operation> = { [S in keyof O['responses']]: StaticOr<O['responses'][S], undefined> }[keyof O['responses']]
