import type { Database } from 'bun:sqlite'
import { randomBytes } from 'node:crypto'
import { type Static, Type } from '@sinclair/typebox'
import { isPlatformKey } from '../../../shared/env.ts'
import { AppError, invalidValue } from '../../../shared/error.ts'
import type { ServiceType } from '../../../shared/service-type.ts'
import { tableOf } from '../../platform/db/table.ts'
import type { Sealer } from '../../platform/secrets/seal.ts'

export interface SecretRows {
  db: Database
  sealer: Sealer
}

const EnvEntry = Type.Object({ key: Type.String(), value: Type.String() })
export type EnvEntry = Static<typeof EnvEntry>

const SecretFileEntry = Type.Object({ name: Type.String(), content: Type.String() })
export type SecretFileEntry = Static<typeof SecretFileEntry>

export const ServiceSecrets = Type.Object({ envVars: Type.Array(EnvEntry), secretFiles: Type.Array(SecretFileEntry) })
export type ServiceSecrets = Static<typeof ServiceSecrets>

const GENERATED_BYTES = 32

/** The variables as they are to be stored: each with its value, or one made for it. @throws AppError validation_failed */
export function resolveEnvInput(
  inputs: readonly { key: string; value?: string; generateValue?: boolean }[],
  type: ServiceType,
): EnvEntry[] {
  const keys = new Set<string>()
  return inputs.map((input, index) => {
    const fail = (message: string) => invalidValue(`/${index}/key`, message)
    if (keys.has(input.key)) throw fail(`${input.key} stands there twice.`)
    if (isPlatformKey(input.key, type)) throw fail(platformKeyMessage(input.key))
    keys.add(input.key)
    const value = resolveValue(input, () => fail(`${input.key} needs either a value or generateValue: true.`))
    if (!isUsable(input.key, value)) throw invalidValue(`/${index}/value`, PORT_MESSAGE)
    return { key: input.key, value }
  })
}

/** @throws AppError validation_failed for a variable that the platform gives and would overwrite, and for a port that is none. */
export function refuseUnusable({ key, value }: EnvEntry, type: ServiceType): void {
  if (isPlatformKey(key, type)) throw new AppError('validation_failed', platformKeyMessage(key))
  if (!isUsable(key, value)) throw new AppError('validation_failed', PORT_MESSAGE)
}

const PORT_MESSAGE = 'PORT must be a number from 1024 to 65535: services may not open lower ports.'

const isUsable = (key: string, value: string): boolean =>
  key !== 'PORT' || (/^[1-9]\d{3,4}$/.test(value) && Number(value) >= 1024 && Number(value) <= 65_535)

const platformKeyMessage = (key: string): string => `${key} is given to every instance by the platform. Leave it out.`

/** The value that was given, or one of 256 random bits in base64. @throws what `fail` makes where both or none are asked for. */
export function resolveValue(input: { value?: string; generateValue?: boolean }, fail: () => AppError): string {
  if (input.generateValue === true && input.value === undefined) return randomBytes(GENERATED_BYTES).toString('base64')
  if (input.generateValue === true || input.value === undefined) throw fail()
  return input.value
}

/** @throws AppError validation_failed naming the first file that stands in the list twice. */
export function refuseSameNames(files: readonly SecretFileEntry[]): void {
  const twice = files.find((file, index) => files.findIndex((other) => other.name === file.name) !== index)
  if (twice !== undefined) throw new AppError('validation_failed', `${twice.name} stands there twice.`)
}

interface EnvRow {
  serviceId: string
  key: string
  sealed: string
}

interface SecretFileRow {
  serviceId: string
  name: string
  sealed: string
}

const envVars = tableOf<EnvRow>('env_vars', { serviceId: 'service_id', key: 'key', sealed: 'value_sealed' })
const secretFiles = tableOf<SecretFileRow>('secret_files', { serviceId: 'service_id', name: 'name', sealed: 'content_sealed' })

const envPurpose = ({ serviceId, key }: Pick<EnvRow, 'serviceId' | 'key'>): string => `env ${serviceId} ${key}`
const filePurpose = ({ serviceId, name }: Pick<SecretFileRow, 'serviceId' | 'name'>): string => `file ${serviceId} ${name}`

/** All variables of a service in clear, by key. */
export const listEnv = ({ db, sealer }: SecretRows, serviceId: string): EnvEntry[] =>
  envVars
    .all(db, 'WHERE service_id = $serviceId ORDER BY key', { serviceId })
    .map((row) => ({ key: row.key, value: sealer.open(row.sealed, envPurpose(row)) }))

/** One variable's value in clear, or undefined. */
export function findEnv({ db, sealer }: SecretRows, serviceId: string, key: string): string | undefined {
  const row = envVars.get(db, 'WHERE service_id = $serviceId AND key = $key', { serviceId, key })
  return row === undefined ? undefined : sealer.open(row.sealed, envPurpose(row))
}

/** Sets one variable, sealed under its service and key. */
export function setEnv({ db, sealer }: SecretRows, serviceId: string, { key, value }: EnvEntry): void {
  const sealed = sealer.seal(value, envPurpose({ serviceId, key }))
  envVars.insert(db, { serviceId, key, sealed }, 'ON CONFLICT DO UPDATE SET value_sealed = excluded.value_sealed')
}

/** Removes a variable; false when the service has none of this key. */
export const deleteEnv = ({ db }: SecretRows, serviceId: string, key: string): boolean => envVars.remove(db, { serviceId, key }) > 0

/** Replaces all variables of a service in one transaction. */
export function replaceEnv(rows: SecretRows, serviceId: string, entries: readonly EnvEntry[]): void {
  rows.db.transaction(() => {
    envVars.remove(rows.db, { serviceId })
    for (const entry of entries) setEnv(rows, serviceId, entry)
  })()
}

/** Secret files of a service in clear, by name. */
export const listSecretFiles = ({ db, sealer }: SecretRows, serviceId: string): SecretFileEntry[] =>
  secretFiles
    .all(db, 'WHERE service_id = $serviceId ORDER BY name', { serviceId })
    .map((row) => ({ name: row.name, content: sealer.open(row.sealed, filePurpose(row)) }))

/** Replaces all secret files of a service in one transaction. */
export function replaceSecretFiles({ db, sealer }: SecretRows, serviceId: string, files: readonly SecretFileEntry[]): void {
  db.transaction(() => {
    secretFiles.remove(db, { serviceId })
    for (const { name, content } of files)
      secretFiles.insert(db, { serviceId, name, sealed: sealer.seal(content, filePurpose({ serviceId, name })) })
  })()
}

/** All variables and secret files of a service in clear. */
export const readSecrets = (rows: SecretRows, serviceId: string): ServiceSecrets => ({
  envVars: listEnv(rows, serviceId),
  secretFiles: listSecretFiles(rows, serviceId),
})
