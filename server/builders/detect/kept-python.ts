import { isPoetryPackage } from './poetry.ts'
import type { SourceView } from './source-view.ts'

/** The files that an environment of Python follows from; undefined where the source itself is part of it, or its packages are those of the day. */
export function pythonInputs(files: SourceView, pip: 'pip' | 'uv pip'): string[] | undefined {
  if (pip === 'uv pip' && (files.has('uv.lock') || files.has('poetry.lock'))) return lockedInputs(files)
  if (files.has('Pipfile.lock')) return namesFiles(files.read('Pipfile') ?? '') ? undefined : ['Pipfile.lock']
  return isPinned(files.read('requirements.txt')) ? ['requirements.txt'] : undefined
}

function lockedInputs(files: SourceView): string[] | undefined {
  const project = files.read('pyproject.toml') ?? ''
  if (files.has('uv.lock')) return isInstalledItself(project) || namesFiles(project) ? undefined : ['uv.lock', 'pyproject.toml']
  return isPoetryPackage(files) || namesFiles(project) ? undefined : ['poetry.lock', 'pyproject.toml']
}

const isInstalledItself = (project: string): boolean => /^\[build-system\]/m.test(project) || /^package[ \t]*=[ \t]*true/m.test(project)

const namesFiles = (text: string): boolean => /\b(?:path|file|workspace|editable)[ \t]*=|\bfile:/.test(text)

function isPinned(requirements: string | undefined): boolean {
  const lines = (requirements ?? '').split('\n').map((line) => line.trim())
  const wishes = lines.filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('--hash='))
  return wishes.length > 0 && wishes.every((line) => /^[\w.-]+(?:\[[\w.,-]+\])?==[\w.+!-]+(?:[ \t;\\]|$)/.test(line))
}
