import { isPython } from '../toolchains/python-specifiers.ts'
import type { DetectInput } from './plan.ts'
import { type Wish, wish } from './runtime-notes.ts'
import type { SourceView } from './source-view.ts'

/** Which Python is asked for, the first to count: the service's own variable, then the files that name one version, then what a project allows. */
export const pythonWishes = ({ files, env = {} }: Pick<DetectInput, 'files' | 'env'>): Wish[] =>
  [
    ...wish('PYTHON_VERSION', env.PYTHON_VERSION),
    ...['.python-version', 'runtime.txt'].flatMap((path) => wish(path, files.head(path)?.replace(/^\s*python-/, ''))),
    ...wish('requires-python', inTable(files, 'project', /^requires-python\s*=\s*["']([^"'\n]*)["']/m)),
    ...wish('pyproject.toml', inTable(files, 'tool.poetry.dependencies', /^python\s*=\s*["']([^"'\n]*)["']/m)),
    ...wish('Pipfile.lock', /"python_(?:full_)?version":\s*"([\d.]+)"/.exec(files.head('Pipfile.lock') ?? '')?.[1]),
  ].map((one) => ({ ...one, isMetBy: (version: string) => isPython(version, one.wanted) }))

function inTable(files: SourceView, name: string, pattern: RegExp): string | undefined {
  const table = new RegExp(`^\\[${RegExp.escape(name)}\\]\\s*$([\\s\\S]*?)(?=^\\[|(?![\\s\\S]))`, 'm').exec(
    files.read('pyproject.toml') ?? '',
  )?.[1]
  return pattern.exec(table ?? '')?.[1]
}
