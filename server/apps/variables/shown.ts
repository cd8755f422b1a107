import type { EnvVar, SecretFile } from '../../../shared/env.ts'
import type { EnvEntry, SecretFileEntry } from '../services/env-store.ts'

export const shownEnv = (isShown: boolean, { key, value, interpolate }: EnvEntry): EnvVar => ({
  key,
  ...(isShown ? { value } : { value: '', hidden: true }),
  ...(interpolate === true && { interpolate }),
})

export const shownFile = (isShown: boolean, file: SecretFileEntry): SecretFile =>
  isShown ? file : { name: file.name, content: '', hidden: true }
