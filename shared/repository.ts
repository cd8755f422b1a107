/** A git repository as one names it: by https, or by ssh. */
export type RepositoryUrl =
  | { scheme: 'https' | 'http'; host: string; port: number | undefined; path: string; href: string }
  | { scheme: 'ssh'; host: string; port: number | undefined; path: string; user: string; href: string }

const MAX_URL_CHARS = 1024
const HOST = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/
const USER = /^[a-z_][a-z0-9._-]{0,31}$/i
/** Neither an option nor something that a remote shell would read as more than a path (git-shell(1)). */
const PATH = /^\/?[A-Za-z0-9_~][A-Za-z0-9._~/@+%-]*$/
const SCP_FORM = /^([^@/:]+)@([^:/]+):(?!\/\/)(.+)$/

/** A repository's URL in parts: https, ssh, or user@host:path; http of this machine alone. Undefined for what is none, or holds a password. */
export function parseRepositoryUrl(text: string): RepositoryUrl | undefined {
  if (text.length > MAX_URL_CHARS || /[^!-~]/.test(text)) return undefined
  const scp = SCP_FORM.exec(text)
  if (scp !== null) return sshUrl({ user: scp[1] ?? '', host: scp[2] ?? '', port: '', path: scp[3] ?? '' }, scpForm)
  const url = /^(?:https?|ssh):\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.password !== '' || url.search !== '' || url.hash !== '') return undefined
  if (url.protocol === 'ssh:') return sshUrl({ user: url.username, host: url.hostname, port: url.port, path: url.pathname }, urlForm)
  return url.username === '' ? webUrl(url) : undefined
}

function webUrl(url: URL): RepositoryUrl | undefined {
  const { hostname: host, pathname: path } = url
  const scheme = url.protocol === 'https:' ? 'https' : 'http'
  const isPlainHost = HOST.test(host) || host.startsWith('[')
  if (!isPlainHost || !isPath(path) || (scheme === 'http' && !isThisMachine(host))) return undefined
  return { scheme, host, port: portOf(url.port), path, href: `${url.origin}${path}` }
}

type SshParts = Record<'user' | 'host' | 'port' | 'path', string>

function sshUrl({ user, host: written, port, path }: SshParts, form: (parts: SshParts) => string): RepositoryUrl | undefined {
  const host = written.toLowerCase()
  if (!USER.test(user) || !HOST.test(host) || !isPath(path)) return undefined
  return { scheme: 'ssh', host, port: portOf(port), path, user, href: form({ user, host, port, path }) }
}

/** Paths of this form begin at the home of the user, those of the other at the root. */
const scpForm = ({ user, host, path }: SshParts): string => `${user}@${host}:${path}`
const urlForm = ({ user, host, port, path }: SshParts): string => `ssh://${user}@${host}${port === '' ? '' : `:${port}`}${path}`

const portOf = (port: string): number | undefined => (port === '' ? undefined : Number(port))
const isThisMachine = (host: string): boolean => host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
const isPath = (path: string): boolean => PATH.test(path) && /[^/]/.test(path) && !path.split('/').includes('..')

/** What all spellings of one repository have in common: its host and path, without scheme, user and ending. Hosts know no case in paths. */
export function repositoryKey(text: string): string | undefined {
  const url = parseRepositoryUrl(text)
  if (url === undefined) return undefined
  const port = url.port === undefined || (url.scheme === 'ssh' && url.port === 22) ? '' : `:${url.port}`
  const path = url.path.replace(/^\/+|\/+$/g, '').replace(/\.git$/i, '')
  return `${url.host}${port}/${path}`.toLowerCase()
}

const MAX_REF_CHARS = 255
/** What git-check-ref-format(1) refuses, and what begins like an option. */
const BAD_REF = /^[-/.]|^@$|[/.]$|\.\.|\/\/|\/\.|@\{|\.lock(?:\/|$)|[\s~^:?*[\\]|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** Whether this can be the name of a branch or tag, or the id of a commit. */
export const isRefName = (text: string): boolean => text !== '' && text.length <= MAX_REF_CHARS && !BAD_REF.test(text)

/** Whether this is the whole id of a commit, of SHA-1 or SHA-256. */
export const isCommitId = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)
