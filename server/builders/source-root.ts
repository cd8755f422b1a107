import { join } from 'node:path'
import { AppError } from '../../shared/error.ts'
import { listBeneath, lookBeneath } from '../platform/files/tree/beneath.ts'

/** Files that make a folder look like the root of an app. */
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
  'compose.yaml',
  'docker-compose.yml',
  'Dockerfile',
  'index.html',
]

interface SourceRootOptions {
  /** The unpacked archive. */
  dir: string
  /** The service's `rootDir`; '' for the root. */
  rootDir: string
  /** A folder that a setting names is not taken for a wrapper. */
  publishPath?: string
}

/**
 * The folder to build in. An archive that holds a single folder around everything, as those of code hosts do, is entered when
 * that folder looks like an app; `rootDir` is looked for in the archive's root first, then inside such a wrapper.
 *
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

/** The name of the only entry of `dir`, when that is a folder. */
function findWrapper(dir: string): string | undefined {
  const [only, ...others] = listBeneath(dir, '')
  return only?.kind === 'folder' && others.length === 0 ? only.name : undefined
}

function folderInside(dir: string, path: string): string | undefined {
  const found = lookBeneath(dir, path)
  return found.kind === 'folder' ? join(dir, found.realPath) : undefined
}
