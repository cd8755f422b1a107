import type { Source } from './sources.ts'

const RUN = 10

/** Lines of code in runs of ten or more equal ones that stand somewhere else too. Blank lines, comments and imports are left out. */
export function copiedLines(sources: readonly Source[]): number {
  const files = sources.map(({ lines }) => codeOf(lines))
  const seen = new Map<string, number>()
  for (const key of files.flatMap(windows)) seen.set(key, (seen.get(key) ?? 0) + 1)
  return files.reduce((sum, code) => {
    const copied = new Set<number>()
    windows(code).forEach((key, at) => {
      if ((seen.get(key) ?? 0) > 1) for (let line = at; line < at + RUN; line++) copied.add(line)
    })
    return sum + copied.size
  }, 0)
}

const windows = (code: readonly string[]): string[] =>
  code.slice(0, Math.max(0, code.length - RUN + 1)).map((_, at) => code.slice(at, at + RUN).join('\n'))

function codeOf(lines: readonly string[]): string[] {
  const text = lines
    .join('\n')
    .replace(/^import\b[^'"]*['"][^'"]*['"].*$/gm, '')
    .replace(/^\s*\/\*[\s\S]*?\*\//gm, '')
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('//'))
}
