import type { SourceView } from './source-view.ts'

/**
 * Whether what a project of Poetry's holds is a package to be installed, by the rules of poetry-core: a folder or module of the project's name,
 * or packages that it names. An app that has none is run where it stands; Poetry writes a build system for those as well.
 */
export function isPoetryPackage(files: SourceView): boolean {
  const project = files.read('pyproject.toml') ?? ''
  if (!/^\[build-system\]/m.test(project) || /^package-mode[ \t]*=[ \t]*false/m.test(project)) return false
  if (!/\bpoetry[.-]core\b|\bpoetry\.masonry\b/.test(project) || /^packages[ \t]*=|^\[\[tool\.poetry\.packages\]\]/m.test(project))
    return true
  const module = /^name[ \t]*=[ \t]*["']([^"'\n]+)/m
    .exec(project)?.[1]
    ?.toLowerCase()
    .replace(/[-_.]+/g, '_')
  return ['.', 'src'].some((path) => [...files.folders(path), ...files.names(path)].some((name) => name.replace(/\.py$/, '') === module))
}
