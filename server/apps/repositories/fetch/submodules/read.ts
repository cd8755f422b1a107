import { AppError } from '../../../../../shared/error.ts'
import { type GitCall, type GitContext, runGit } from '../../git/run.ts'
import { isPlainPath, MOST_SUBMODULES, type Submodule, submodulesIn, urlsByPath } from './rules.ts'

/** The submodules of a commit that was fetched. @throws AppError as `runGit` does; bad_request where they are too many. */
export async function readSubmodules(
  context: GitContext,
  { folder, commitId, signal }: Pick<GitCall, 'folder' | 'signal'> & { commitId: string },
): Promise<Submodule[]> {
  const git = (...args: string[]) => runGit(context, { folder, args: ['-C', folder, ...args], signal })
  if ((await git('ls-tree', '-z', '--name-only', commitId, '--', '.gitmodules')) === '') return []
  const urls = urlsByPath(await git('config', '-z', `--blob=${commitId}:.gitmodules`, '--list'))
  const paths = [...urls.keys()].filter(isPlainPath)
  if (paths.length > MOST_SUBMODULES) throw tooMany()
  return paths.length === 0 ? [] : submodulesIn(await git('ls-tree', '-z', commitId, '--', ...paths), urls)
}

export const tooMany = (): AppError =>
  new AppError('bad_request', `It has more than ${MOST_SUBMODULES} submodules. Have fewer, or have the build command fetch them.`)
