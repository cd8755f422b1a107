import { join } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import { listBeneath, statBeneath } from '../../platform/files/tree/beneath.ts'

const MARKERS = [
  'package.json',
  'requirements.txt',
  'pyproject.toml',
  'manage.py',
  'go.mod',
  'Cargo.toml',
  'Procfile',
  'Gemfile',
  'mix.exs',
  'composer.json',
  'index.php',
  'deno.json',
  'pom.xml',
  'build.gradle',
  'build.gradle.kts',
  'compose.yaml',
  'docker-compose.yml',
  'Dockerfile',
  'index.html',
]

interface SourceRootOptions {
  dir: string
  rootDir: string
  publishPath?: string
}

/**
 * The folder to build in. A single folder around everything, as in archives of code hosts, is entered when it looks like an app.
 * @throws AppError `bad_request` when `rootDir` is not in the source.
 */
export function findSourceRoot({ dir, rootDir, publishPath }: SourceRootOptions): string {
  const wrapper = findWrapper(dir)
  if (rootDir !== '') {
    const found = folderInside(dir, rootDir) ?? (wrapper === undefined ? undefined : folderInside(join(dir, wrapper), rootDir))
    if (found === undefined)
      throw new AppError('bad_request', `The source has no folder ${JSON.stringify(rootDir)}: correct rootDir or upload its parent`)
    return found
  }
  if (wrapper === undefined || publishPath?.split('/')[0] === wrapper) return dir
  const names = listBeneath(dir, wrapper).map(({ name }) => name)
  return MARKERS.some((marker) => names.includes(marker)) ? join(dir, wrapper) : dir
}

function findWrapper(dir: string): string | undefined {
  const [only, ...others] = listBeneath(dir, '')
  return only?.kind === 'folder' && others.length === 0 ? only.name : undefined
}

function folderInside(dir: string, path: string): string | undefined {
  const found = statBeneath(dir, path)
  return found.kind === 'folder' ? join(dir, found.realPath) : undefined
}
