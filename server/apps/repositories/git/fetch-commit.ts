import type { Remote } from './environment.ts'
import { type GitCall, type GitContext, runGit } from './run.ts'

export interface CommitAt {
  folder: string
  remote: Remote
  commitId: string
}

const SHA1_CHARS = 40

export async function fetchCommit(
  context: GitContext,
  { folder, remote, commitId, signal }: CommitAt & Pick<GitCall, 'signal'>,
): Promise<void> {
  const git = (args: readonly string[], at?: Remote) =>
    runGit(context, { folder, args: ['-C', folder, ...args], signal, ...(at && { remote: at }) })
  await git(['init', '--quiet', '--bare', '--template=', `--object-format=${commitId.length === SHA1_CHARS ? 'sha1' : 'sha256'}`])
  await git(['fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--', remote.url.href, commitId], remote)
}
