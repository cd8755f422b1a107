import { type TString, Type } from '@sinclair/typebox'

export const idPrefix = {
  service: 'srv',
  deploy: 'dep',
  build: 'bld',
  source: 'src',
  release: 'rel',
  event: 'evt',
  customDomain: 'cdm',
  workspace: 'tea',
  user: 'usr',
  apiKey: 'key',
  role: 'rol',
  invite: 'inv',
  session: 'ses',
  auditEntry: 'aud',
  certificate: 'crt',
  cronJob: 'crn',
  job: 'job',
  disk: 'dsk',
  volume: 'vol',
  diskSnapshot: 'snp',
  project: 'prj',
  environment: 'evm',
  envGroup: 'evg',
  webhook: 'whk',
  webhookDelivery: 'whd',
  postgres: 'dpg',
  keyValue: 'red',
  backup: 'bak',
  postgresExport: 'exp',
  postgresImport: 'imp',
  headerRule: 'hdr',
  pathRule: 'rdr',
  sourceHostInstallation: 'shi',
} as const

export type IdKind = keyof typeof idPrefix

/** The 32 letters of an id, in ascending order, so that ids sort by the time they were made. */
export const idAlphabet = '0123456789abcdefghijklmnopqrstuv'

const body = '[0-9a-v]{20}'

/** What stands behind the letters of an id: that of a database says that it is the one which is written to. */
export const idSuffix: Partial<Record<IdKind, string>> = { postgres: '-a' }

/** What may stand there: -b is a read replica. */
const idSuffixes: Partial<Record<IdKind, string>> = { postgres: '-[ab]' }

/** Pattern of the ids of one resource: prefix, hyphen, 20 characters, suffix. A cron job is a service whose ids have a prefix of their own. */
export const idPattern = (kind: IdKind): string =>
  `^${kind === 'service' ? '(?:srv|crn)' : idPrefix[kind]}-${body}${idSuffixes[kind] ?? ''}$`

/** Pattern of a running instance's id: the service's id, hyphen, 5 characters. */
export const instanceIdPattern = `^srv-${body}-[0-9a-v]{5}$`

/** Schema of the ids of a kind of resource. */
export const Id = (kind: IdKind): TString =>
  Type.String({
    pattern: idPattern(kind),
    description: `Id of the ${kind}`,
    examples: [`${idPrefix[kind]}-0b1c2d3e4f5g6h7i8j9k${idSuffix[kind] ?? ''}`],
  })

const resourceKinds = ['service', 'postgres', 'keyValue'] as const

/** Id of what is run for a workspace: of a service, a database or a key-value store. */
export const ResourceId: TString = Type.String({
  pattern: resourceKinds.map(idPattern).join('|'),
  description: 'Id of the service, database or key-value store',
  examples: [`${idPrefix.service}-0b1c2d3e4f5g6h7i8j9k`],
})

/** Whether `value` has the form of an id of this resource; says nothing about its existence. */
export const isId = (kind: IdKind, value: string): boolean => new RegExp(idPattern(kind)).test(value)
