import { AppError } from '../../../../../shared/error.ts'
import { isCommitId, parseRepositoryUrl, type RepositoryUrl } from '../../../../../shared/repository.ts'
import { hostOf } from '../../git/ssh.ts'

export interface Submodule {
  path: string
  url: string
  commitId: string
}

/** Submodules of one deploy, those of submodules counted, and how far down those go. */
export const MOST_SUBMODULES = 50
export const MOST_LEVELS = 5

const MAX_PATH_BYTES = 1024
const LINK_TO_COMMIT = '160000'

/** What `.gitmodules` names, by the output of `git config --list -z`, in its order: the paths that it has URLs for. */
export function urlsByPath(listed: string): Map<string, string> {
  const byName = new Map<string, { path?: string; url?: string }>()
  for (const [key, value] of listed.split('\0').map(keyAndValue)) {
    const [, name, field] = /^submodule\.(.+)\.(path|url)$/s.exec(key) ?? []
    if (name !== undefined && field !== undefined) byName.set(name, { ...byName.get(name), [field]: value })
  }
  return new Map([...byName.values()].flatMap(({ path, url }) => (path && url ? [[path, url] as const] : [])))
}

const keyAndValue = (line: string): [string, string] => {
  const at = line.indexOf('\n')
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)]
}

/** The submodules that a commit has at the named paths, by the output of `git ls-tree -z`. */
export function submodulesIn(listed: string, urls: ReadonlyMap<string, string>): Submodule[] {
  return listed.split('\0').flatMap((line) => {
    const [, mode, id = '', path = ''] = /^(\d+) \w+ ([0-9a-f]+)\t(.+)$/s.exec(line) ?? []
    const url = urls.get(path)
    return mode === LINK_TO_COMMIT && url !== undefined && isCommitId(id) ? [{ path, url, commitId: id }] : []
  })
}

export const isPlainPath = (path: string): boolean =>
  Buffer.byteLength(path) <= MAX_PATH_BYTES && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')

interface Parent {
  url: RepositoryUrl
  /** Repository of the service: its deploy key goes to the server of that alone. */
  own: RepositoryUrl
}

/** Where a submodule is fetched from. @throws AppError bad_request where that is no place to go to. */
export function locateSubmodule({ path, url }: Pick<Submodule, 'path' | 'url'>, { url: parent, own }: Parent): RepositoryUrl {
  const located = parseRepositoryUrl(isRelative(url) ? (resolved(parent, url) ?? '') : url)
  const shown = JSON.stringify(url.slice(0, MAX_PATH_BYTES))
  if (located === undefined)
    throw new AppError(
      'bad_request',
      `The submodule ${path} is at ${shown}, from where nothing is fetched. Name it in .gitmodules by a URL of https or ssh, or one that begins with ../.`,
    )
  if (located.scheme === 'ssh' && (own.scheme !== 'ssh' || hostOf(located) !== hostOf(own)))
    throw new AppError(
      'bad_request',
      `The submodule ${path} is at ${shown}, and the deploy key goes to the server of the service's own repository alone. Name it in .gitmodules by https.`,
    )
  return located
}

const isRelative = (url: string): boolean => /^\.\.?\//.test(url)

/** The URL beside or above the parent's, as git-submodule(1) resolves it. */
function resolved({ href, path }: RepositoryUrl, relative: string): string | undefined {
  const folders = path.split('/').filter((part) => part !== '')
  let rest = relative
  for (let step = /^\.\.?\//.exec(rest)?.[0]; step !== undefined; step = /^\.\.?\//.exec(rest)?.[0]) {
    if (step === '../' && folders.pop() === undefined) return undefined
    rest = rest.slice(step.length)
  }
  const root = href.slice(0, href.length - path.length)
  return `${root}${path.startsWith('/') ? '/' : ''}${[...folders, rest].join('/')}`
}
