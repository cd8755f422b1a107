import { isPlatformKey, parseDotenv } from '../../shared/env.ts'
import { usageError } from '../base/error.ts'
import { clean } from '../terminal/text.ts'

/** Variables given as `KEY=value`. @throws CliError with the usage exit code. */
export function parsePairs(pairs: readonly string[]): { key: string; value: string }[] {
  return pairs.map((pair) => {
    const at = pair.indexOf('=')
    if (at < 1) throw usageError(`${pair} is not KEY=value.`)
    return { key: pair.slice(0, at), value: pair.slice(at + 1) }
  })
}

/** Variables of a `.env` file's text. @throws CliError with the usage exit code, naming the file and the line. */
export function parseEnvFile(text: string, name: string): { key: string; value: string }[] {
  try {
    return parseDotenv(text)
  } catch (error) {
    throw usageError(`${name}: ${error instanceof Error ? error.message : error}`)
  }
}

/** What a `.env` file holds for local work, such as PORT, is left out where the platform gives it; `tell` is told. */
export function withoutPlatformKeys<T extends { key: string }>(pairs: readonly T[], tell: (line: string) => void): T[] {
  const given = pairs.filter(({ key }) => isPlatformKey(key))
  if (given.length > 0) tell(clean`Left out, since the platform gives it: ${given.map(({ key }) => key).join(', ')}`)
  return pairs.filter(({ key }) => !isPlatformKey(key))
}
