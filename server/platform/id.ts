import { type IdKind, idAlphabet, idPrefix, idSuffix } from '../../shared/id.ts'

const TIME_LETTERS = 8
const RANDOM_LETTERS = 12
const INSTANCE_LETTERS = 5
const SHELL_LETTERS = 8
const LETTERS_PER_MS_RANGE = 32 ** TIME_LETTERS

let latestMs = 0

/** A new id: 40 bits of milliseconds since 2024, good until 2058, and 60 random ones. Each is greater than the one before. */
export function newId(kind: IdKind, now = Date.now()): string {
  latestMs = Math.max(now, latestMs + 1)
  return `${idPrefix[kind]}-${timeLetters(latestMs)}${randomLetters(RANDOM_LETTERS)}${idSuffix[kind] ?? ''}`
}

/** Replicas are told from what is written to by the last letter of their ids, as clients of Render's API know them. */
export const newReplicaId = (now?: number): string => newId('postgres', now).replace(/-a$/, '-b')

export function newInstanceId(serviceId: string): string {
  return `${serviceId}-${randomLetters(INSTANCE_LETTERS)}`
}

export const newShellId = (serviceId: string): string => `${serviceId}-shell-${randomLetters(SHELL_LETTERS)}`

const ID_EPOCH_MS = Date.UTC(2024, 0, 1)

function timeLetters(now: number): string {
  let rest = (now - ID_EPOCH_MS) % LETTERS_PER_MS_RANGE
  let letters = ''
  for (let i = 0; i < TIME_LETTERS; i++) {
    letters = idAlphabet.charAt(rest % 32) + letters
    rest = Math.floor(rest / 32)
  }
  return letters
}

export function randomLetters(count: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(count))
  return Array.from(bytes, (byte) => idAlphabet.charAt(byte & 31)).join('')
}
