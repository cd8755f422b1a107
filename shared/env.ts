import { type Static, Type } from '@sinclair/typebox'
import { AppError } from './error.ts'
import { StrictObject } from './schema.ts'
import { type ServiceType, traitsOf } from './service-type.ts'

/** POSIX names: what every shell and program can be given. */
const envKeyPattern = '^[A-Za-z_][A-Za-z0-9_]{0,254}$'
const MAX_VALUE_CHARS = 131_072
const MAX_FILE_CHARS = 524_288
export const maxEnvVars = 1000

/** A value of the user's for such a variable would never be seen. A private service may name its own port. */
export const isPlatformKey = (key: string, type?: ServiceType): boolean =>
  key.startsWith('CPD_') || (key === 'PORT' && (type === undefined || !traitsOf(type).choosesPort))

export const EnvKey = Type.String({ pattern: envKeyPattern, description: 'Name of the variable', examples: ['DATABASE_URL'] })

/** NUL cannot stand in a process environment. */
const EnvValue = Type.String({ maxLength: MAX_VALUE_CHARS, pattern: '^[^\\u0000]*$', examples: ['postgres://…'], 'x-secret': true })

export const EnvVarInput = StrictObject({
  key: EnvKey,
  value: Type.Optional(EnvValue),
  generateValue: Type.Optional(Type.Boolean({ description: 'Have the server make a value: base64 of 32 random bytes' })),
})
export type EnvVarInput = Static<typeof EnvVarInput>

export const EnvValueInput = StrictObject({ value: Type.Optional(EnvValue), generateValue: Type.Optional(Type.Boolean()) })
export type EnvValueInput = Static<typeof EnvValueInput>

/** `value` is `""` and `hidden` true for callers without `env.read`. */
export const EnvVar = Type.Object({ key: EnvKey, value: Type.String(), hidden: Type.Optional(Type.Literal(true)) })
export type EnvVar = Static<typeof EnvVar>

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
