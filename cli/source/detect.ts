import type { SourceFile } from './files.ts'

/** Files that say a program is built or run here; the server finds out which. */
const programs: ReadonlySet<string> = new Set([
  'package.json',
  'requirements.txt',
  'pyproject.toml',
  'Pipfile',
  'go.mod',
  'Cargo.toml',
  'Gemfile',
  'mix.exs',
  'Procfile',
  'Dockerfile',
])

/** What a new service for this source should be unless the user says: a static site when there is a page and no program. */
export function detectType(files: readonly SourceFile[], rootDir = ''): 'static_site' | 'web_service' {
  const prefix = rootDir === '' ? '' : `${rootDir.replace(/\/+$/, '')}/`
  const names = new Set(
    files
      .map(({ path }) => path)
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(prefix.length)),
  )
  const isProgram = [...programs].some((name) => names.has(name))
  return names.has('index.html') && !isProgram ? 'static_site' : 'web_service'
}
