import { AppError } from '../../../../shared/error.ts'
import { COMMIT_FORMAT, type ParsedCommit, parseCommit } from './commit.ts'
import { type GitCall, type GitContext, runGit } from './run.ts'

export async function readCommit(
  context: GitContext,
  { folder, commitId, signal }: Pick<GitCall, 'folder' | 'signal'> & { commitId: string },
): Promise<ParsedCommit> {
  // Not `git show`, which walks through all of the tree though it prints none of it.
  const args = ['-C', folder, 'log', '--max-count=1', '--no-show-signature', `--format=${COMMIT_FORMAT}`, commitId]
  const commit = parseCommit(await runGit(context, { folder, args, signal }))
  if (commit === undefined) throw new AppError('bad_request', `${commitId} is no commit. Deploy a branch, tag or commit.`)
  return commit
}
