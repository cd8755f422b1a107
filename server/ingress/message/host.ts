import { skipWhile, tableOf } from './characters.ts'

const DOT = '.'.charCodeAt(0)
const isPlainHostCode = tableOf((code) => code === DOT || (code >= 48 && code <= 57) || (code >= 97 && code <= 122))
const hostPattern = /^(\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?)(?::([0-9]{0,5}))?$/

export interface HostAndPort {
  host: string
  port: number | undefined
}

export function parseHost(value: string): HostAndPort | undefined {
  if (isPlain(value)) return { host: value, port: undefined }
  const match = hostPattern.exec(value.toLowerCase())
  const name = match?.[1]
  if (name === undefined) return undefined
  const port = match?.[2]
  return { host: name.endsWith('.') ? name.slice(0, -1) : name, port: port ? Number(port) : undefined }
}

/** Labels of lower-case letters and digits, as nearly all names are: they need no pattern to be read. */
function isPlain(value: string): boolean {
  const last = value.charCodeAt(value.length - 1)
  return value !== '' && last !== DOT && value.charCodeAt(0) !== DOT && skipWhile(value, 0, isPlainHostCode) === value.length
}
