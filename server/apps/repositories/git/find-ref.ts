import { isCommitId } from '../../../../shared/repository.ts'
import type { Remote } from './environment.ts'
import { commitIn, wantedRefs } from './refs.ts'
import { type GitCall, type GitContext, runGit } from './run.ts'

export async function findRef(
  context: GitContext,
  { folder, remote, ref, signal }: Pick<GitCall, 'folder' | 'signal'> & { remote: Remote; ref: string },
): Promise<string | undefined> {
  if (isCommitId(ref)) return ref
  const args = ['-C', folder, 'ls-remote', '--', remote.url.href, ...wantedRefs(ref)]
  return commitIn(await runGit(context, { folder, args, remote, signal }), ref)
}
