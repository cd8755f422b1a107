import { randomBytes } from 'node:crypto'
import { type EnvValueInput, type EnvVarInput, isPlatformKey, maxEnvVars } from '../../../shared/env.ts'
import { AppError, invalidValue } from '../../../shared/error.ts'
import type { ServiceType } from '../../../shared/service-type.ts'
import type { EnvEntry, SecretFileEntry } from '../services/env-store.ts'
import { type Bind, referencesIn } from './bind.ts'
import { badReferenceIn } from './interpolate.ts'

const GENERATED_BYTES = 32

interface OfWhom {
  /** Type of the service that gets them; undefined for a group, which may be linked to any. */
  type: ServiceType | undefined
  bind: Bind
  pointer?: string
}

/** The variables as they are to be stored: each with its value, or one made for it. @throws AppError validation_failed */
export function resolveEnvInput(inputs: readonly EnvVarInput[], { pointer = '', ...ofWhom }: OfWhom): EnvEntry[] {
  const keys = new Set<string>()
  return inputs.map((input, index) => {
    if (keys.has(input.key)) throw invalidValue(`${pointer}/${index}/key`, `${input.key} stands there twice.`)
    keys.add(input.key)
    return resolveEnvEntry(input.key, input, { ...ofWhom, pointer: `${pointer}/${index}` })
  })
}

export function resolveEnvEntry(key: string, input: EnvValueInput, { type, bind, pointer = '' }: OfWhom): EnvEntry {
  refusePlatformKey(key, type, pointer)
  const [wanted, another] = referencesIn(input)
  if (wanted !== undefined) {
    if (another !== undefined || hasValue(input)) throw invalidValue(`${pointer}/${wanted.field}`, referenceAloneMessage(key))
    return { key, value: '', from: bind(key, wanted, pointer) }
  }
  const value = resolveValue(input, () =>
    invalidValue(`${pointer}/key`, `${key} needs a value, generateValue: true, or a database or key-value store to refer to.`),
  )
  if (!isUsable(key, value)) throw invalidValue(`${pointer}/value`, PORT_MESSAGE)
  if (input.interpolate !== true) return { key, value }
  if (input.generateValue === true) throw invalidValue(`${pointer}/interpolate`, `${key} is generated: there is nothing to interpolate.`)
  const bad = badReferenceIn(value)
  if (bad !== undefined) throw invalidValue(`${pointer}/value`, badReferenceMessage(key, bad))
  return { key, value, interpolate: true }
}

/** @throws AppError validation_failed for a variable that the platform gives. */
export function refusePlatformKey(key: string, type: ServiceType | undefined, pointer = ''): void {
  if (isPlatformKey(key, type)) throw invalidValue(`${pointer}/key`, platformKeyMessage(key))
}

export function refuseTooMany(count: number): void {
  if (count > maxEnvVars) throw new AppError('validation_failed', `These would be ${count} variables; there may be ${maxEnvVars}.`)
}

const PORT_MESSAGE = 'PORT must be a number from 1024 to 65535: services may not open lower ports.'

const isUsable = (key: string, value: string): boolean =>
  key !== 'PORT' || (/^[1-9]\d{3,4}$/.test(value) && Number(value) >= 1024 && Number(value) <= 65_535)

/** What was shown of a reference may be sent as it was: its value is empty. */
const hasValue = ({ value = '', generateValue, interpolate }: EnvValueInput): boolean =>
  value !== '' || generateValue === true || interpolate === true

const referenceAloneMessage = (key: string): string =>
  `${key} refers to one database or key-value store and has nothing beside that: no value, generateValue or interpolate.`

const platformKeyMessage = (key: string): string => `${key} is given to every instance by the platform. Leave it out.`

const badReferenceMessage = (key: string, bad: string): string =>
  `${key} is to be interpolated, and ${bad} in it is no reference. Write \${NAME}; text that is to stay as it is goes into a variable of its own.`

/** The value that was given, or one of 256 random bits in base64. @throws what `fail` makes where both or none are asked for. */
function resolveValue({ value, generateValue }: EnvValueInput, fail: () => AppError): string {
  if (generateValue === true && value === undefined) return randomBytes(GENERATED_BYTES).toString('base64')
  if (generateValue === true || value === undefined) throw fail()
  return value
}

export function refuseSameNames(files: readonly SecretFileEntry[]): void {
  const twice = files.find((file, index) => files.findIndex((other) => other.name === file.name) !== index)
  if (twice !== undefined) throw new AppError('validation_failed', `${twice.name} stands there twice.`)
}
