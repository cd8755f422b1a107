import { usageError } from '../base/error.ts'

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' }

/** The words of a line as redis-cli reads them: in double quotes with escapes, in single ones as they stand. @throws CliError for an open quote. */
export function wordsIn(line: string): string[] {
  const words: string[] = []
  let rest = line.trimStart()
  while (rest !== '') {
    const found = /^"((?:[^"\\]|\\.)*)"(?=\s|$)|^'([^']*)'(?=\s|$)|^([^\s"']\S*)/.exec(rest)
    if (found === null) throw usageError('A quote is not closed.')
    const [whole, doubled, single, plain = ''] = found
    words.push(doubled === undefined ? (single ?? plain) : doubled.replace(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter))
    rest = rest.slice(whole.length).trimStart()
  }
  return words
}
