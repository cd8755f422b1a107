import type { SourceView } from './source-view.ts'

export interface PythonFramework {
  title: string
  foundBy: string
  start: string
  server?: 'gunicorn' | 'uvicorn'
  finish?: string
}

/** The names of the packages a requirements.txt, Pipfile or pyproject.toml asks for, normalised as PyPI does. */
export function pythonRequirements(files: SourceView): Set<string> {
  const lines = files.read('requirements.txt')?.split('\n') ?? files.read('Pipfile')?.split('\n') ?? projectLines(files)
  const names = lines.map((line) =>
    /^\s*"?([A-Za-z0-9][A-Za-z0-9._-]*|-r\b)/
      .exec(line)?.[1]
      ?.toLowerCase()
      .replace(/[._-]+/g, '-'),
  )
  return new Set(names.filter((name) => name !== undefined))
}

/** Strings as they stand in lists, and Poetry's keys. */
const projectLines = (files: SourceView): string[] => files.read('pyproject.toml')?.match(/"[^"\n]+"|^[\w.-]+(?=\s*=)/gm) ?? []

export function pythonScript(files: SourceView): string | undefined {
  const script = ['main.py', 'app.py', 'server.py', 'run.py'].find((path) => files.has(path))
  return script && `python ${script}`
}
