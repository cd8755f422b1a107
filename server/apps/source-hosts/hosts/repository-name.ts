/** The owner/name of a repository whose URL is below that of a host; undefined for one of elsewhere. */
export function nameBelow(hostUrl: string, url: URL): string | undefined {
  const host = new URL(hostUrl)
  const base = host.pathname.replace(/\/*$/, '/')
  if (url.origin !== host.origin || !url.pathname.startsWith(base)) return undefined
  const name = url.pathname
    .slice(base.length)
    .replace(/\.git$/, '')
    .replace(/\/+$/, '')
  return /^[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/.test(name) ? name : undefined
}
