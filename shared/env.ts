import { type Static, Type } from '@sinclair/typebox'
import { AppError } from './error.ts'
import { Id } from './id.ts'
import { OneOf, PageQuery, StrictObject } from './schema.ts'
import { type ServiceType, traitsOf } from './service-type.ts'

/** POSIX names: what every shell and program can be given. */
const envKeyPattern = '^[A-Za-z_][A-Za-z0-9_]{0,254}$'
export const maxEnvValueChars = 131_072
const MAX_FILE_CHARS = 524_288
export const maxEnvVars = 1000

/** A value of the user's for such a variable would never be seen. A private service may name its own port. */
export const isPlatformKey = (key: string, type?: ServiceType): boolean =>
  key.startsWith('CPD_') || (key === 'PORT' && (type === undefined || !traitsOf(type).choosesPort))

export const EnvKey = Type.String({ pattern: envKeyPattern, description: 'Name of the variable', examples: ['DATABASE_URL'] })

/** NUL cannot stand in a process environment. */
const EnvValue = Type.String({ maxLength: maxEnvValueChars, pattern: '^[^\\u0000]*$', examples: ['postgres://…'], 'x-secret': true })

export const databaseProperties = ['connectionString', 'connectionPoolString', 'host', 'port', 'user', 'password', 'database'] as const
export type DatastoreProperty = (typeof databaseProperties)[number]
export const keyValueProperties = ['connectionString', 'host', 'port', 'user', 'password'] as const satisfies readonly DatastoreProperty[]

const named = { id: Type.Optional(Type.String({ maxLength: 64 })), name: Type.Optional(Type.String({ maxLength: 63 })) }

const propertyOf = <const T extends readonly string[]>(values: T) => Type.Optional(OneOf(values, 'Default: connectionString'))

const DatabaseReference = StrictObject(
  { ...named, property: propertyOf(databaseProperties) },
  {
    description: 'Have a database say the value at each deploy: the one of this id, or of this name in the workspace',
    examples: [{ name: 'orders', property: 'connectionString' }],
  },
)

const KeyValueReference = StrictObject(
  { ...named, property: propertyOf(keyValueProperties) },
  { description: 'The same of a key-value store', examples: [{ name: 'cache', property: 'connectionString' }] },
)

const ServiceReference = StrictObject(
  { ...KeyValueReference.properties, type: Type.Optional(OneOf(['keyvalue', 'redis'])) },
  { description: 'As Blueprints say `fromKeyValue`' },
)

const valueInput = {
  value: Type.Optional(EnvValue),
  generateValue: Type.Optional(Type.Boolean({ description: 'Have the server make a value: base64 of 32 random bytes' })),
  interpolate: Type.Optional(
    Type.Boolean({ description: 'Put the values of other variables in the place of ${NAME} in this one', default: false }),
  ),
  fromDatabase: Type.Optional(DatabaseReference),
  fromKeyValue: Type.Optional(KeyValueReference),
  fromService: Type.Optional(ServiceReference),
}

export const EnvVarInput = StrictObject({ key: EnvKey, ...valueInput })
export type EnvVarInput = Static<typeof EnvVarInput>

export const EnvValueInput = StrictObject(valueInput)
export type EnvValueInput = Static<typeof EnvValueInput>

/** Whose a variable is: the platform's, the service's own, or a group's that is linked to it. */
export const EnvSource = Type.Object({
  type: OneOf(['platform', 'service', 'group']),
  id: Type.Optional(Id('envGroup')),
  name: Type.Optional(Type.String({ description: 'Name of the group' })),
})
export type EnvSource = Static<typeof EnvSource>

const shownName = Type.Optional(Type.String({ description: 'Absent when it is gone' }))

/** `value` is `""` and `hidden` true for callers without `env.read`; it is `""` as well for what refers to a datastore. */
export const EnvVar = Type.Object({
  key: EnvKey,
  value: Type.String(),
  hidden: Type.Optional(Type.Literal(true)),
  interpolate: Type.Optional(Type.Literal(true, { description: 'References in the value are replaced when the service is deployed' })),
  fromDatabase: Type.Optional(Type.Object({ id: Id('postgres'), name: shownName, property: OneOf(databaseProperties) })),
  fromKeyValue: Type.Optional(Type.Object({ id: Id('keyValue'), name: shownName, property: OneOf(keyValueProperties) })),
})
export type EnvVar = Static<typeof EnvVar>

/** A variable as the next deploy will give it to the service, where `resolved` is asked for. */
export const ResolvedEnvVar = Type.Object({
  ...EnvVar.properties,
  source: Type.Optional(EnvSource),
  hides: Type.Optional(Type.Array(EnvSource, { description: 'Who else has a variable of this name, the strongest first' })),
  problem: Type.Optional(Type.String({ description: 'Why it comes to no value: the service cannot be deployed until that is mended' })),
  isLive: Type.Optional(Type.Boolean({ description: 'Whether the live release has this value; not said of what the platform gives' })),
})
export type ResolvedEnvVar = Static<typeof ResolvedEnvVar>

export const EnvVarQuery = Type.Object({
  ...PageQuery,
  resolved: Type.Optional(
    Type.Boolean({
      description: 'All variables that the service gets, from wherever, with whose value won and what it hid',
      default: false,
    }),
  ),
})

export const PlatformEnvVar = Type.Object({ key: EnvKey, value: Type.String(), description: Type.String() })
export type PlatformEnvVar = Static<typeof PlatformEnvVar>

export const SecretFileName = Type.String({ pattern: '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,128}$', examples: ['service-account.json'] })

export const SecretFileInput = StrictObject({ name: SecretFileName, content: Type.String({ maxLength: MAX_FILE_CHARS, 'x-secret': true }) })
export type SecretFileInput = Static<typeof SecretFileInput>

/** `content` is `""` and `hidden` true for callers without `env.read`. */
export const SecretFile = Type.Object({ name: SecretFileName, content: Type.String(), hidden: Type.Optional(Type.Literal(true)) })
export type SecretFile = Static<typeof SecretFile>

export const EnvVarsBody = Type.Array(EnvVarInput, { maxItems: maxEnvVars })
export const SecretFilesBody = Type.Array(SecretFileInput, { maxItems: 100 })

/**
 * Reads the `.env` format: `KEY=value`, `export ` before it, `#` comments, single quotes literal,
 * double quotes with `\n`, `\t`, `\"` and `\\`, quoted values over several lines.
 * @throws AppError bad_request naming the line that cannot be read.
 */
export function parseDotenv(text: string): { key: string; value: string }[] {
  const found = new Map<string, string>()
  const pattern =
    /(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[\s\S])*)"|'([^']*)'|([^\r\n]*))[ \t]*(?:#[^\r\n]*)?(?:\r?\n|$)/y
  let position = 0
  while (position < text.length) {
    const blank = matchAt(/[ \t]*(?:#[^\r\n]*)?(?:\r?\n|$)/y, text, position)
    if (blank && blank[0] !== '') {
      position += blank[0].length
      continue
    }
    const pair = matchAt(pattern, text, position + (matchAt(/[ \t]*/y, text, position)?.[0].length ?? 0))
    if (!pair) throw new AppError('bad_request', `Line ${text.slice(0, position).split('\n').length} is not KEY=value.`)
    found.set(pair[1] ?? '', dotenvValue(pair))
    position = pair.index + pair[0].length
  }
  return [...found].map(([key, value]) => ({ key, value }))
}

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t' }

function dotenvValue(match: RegExpExecArray): string {
  const [, , double, single, bare] = match
  if (double !== undefined) return double.replace(/\\([\s\S])/g, (_, letter: string) => escapes[letter] ?? letter)
  if (single !== undefined) return single
  return (bare ?? '').replace(/[ \t]+#.*$/, '').trim()
}

function matchAt(sticky: RegExp, text: string, position: number): RegExpExecArray | null {
  sticky.lastIndex = position
  return sticky.exec(text)
}

/** Writes variables so that `parseDotenv` reads the same ones back. */
export function formatDotenv(vars: readonly { key: string; value: string }[]): string {
  return vars.map(({ key, value }) => `${key}=${quoteDotenv(value)}\n`).join('')
}

function quoteDotenv(value: string): string {
  if (/^[A-Za-z0-9_./:@%+,-]*$/.test(value)) return value
  const escaped = value.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r')
  return `"${escaped}"`
}
