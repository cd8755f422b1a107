/** What stands in .git/config about a service, and the commands of git that write it: an address, and who is asked for the key. */

export interface Remote {
  name: string
  url: string
  /** The stored login whose key is shown, as the user name of the remote; undefined for the one in use. */
  login: string | undefined
}

export const repositoryUrl = (server: string, { ownerId, name }: { ownerId: string; name: string }): string =>
  `${server}/git/${ownerId}/${encodeURIComponent(name)}.git`

const helper = '!cpctl git-credential'

const sectionOf = (url: string): string => `credential.${url}`

/** What makes a remote or brings an earlier one to this state; each can be made again. */
export function commandsToAdd({ name, url, login }: Remote, isThere: boolean): string[][] {
  const set = (key: string, value: string) => ['config', '--local', '--replace-all', key, value]
  return [
    isThere ? ['remote', 'set-url', name, url] : ['remote', 'add', name, url],
    // The empty one forgets helpers of the machine, which would keep the key in places of their own.
    set(`${sectionOf(url)}.helper`, ''),
    ['config', '--local', '--add', `${sectionOf(url)}.helper`, helper],
    ...(login === undefined ? [] : [set(`${sectionOf(url)}.username`, login)]),
  ]
}

export const commandToForget = (url: string): string[] => ['config', '--local', '--remove-section', sectionOf(url)]
