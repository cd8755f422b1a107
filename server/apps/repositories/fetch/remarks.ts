import { type GitCall, type GitContext, runGit } from '../git/run.ts'

/** What of a commit is not among its files, for whoever would look for it there. @throws AppError as `runGit` does. */
export async function remarksOn(
  context: GitContext,
  { folder, commitId, signal }: Pick<GitCall, 'folder' | 'signal'> & { commitId: string },
): Promise<string[]> {
  const git = (...args: string[]) => runGit(context, { folder, args: ['-C', folder, ...args], signal })
  const names = (await git('ls-tree', '-z', '--name-only', commitId, '--', '.gitmodules', '.gitattributes')).split('\0')
  const attributes = names.includes('.gitattributes') ? await git('cat-file', 'blob', `${commitId}:.gitattributes`) : ''
  return remarksFor({ hasSubmodules: names.includes('.gitmodules'), attributes })
}

export function remarksFor({ hasSubmodules, attributes }: { hasSubmodules: boolean; attributes: string }): string[] {
  return [
    ...(hasSubmodules ? ['Submodules are not fetched: their folders are empty. Keep their files in the repository itself.'] : []),
    ...(/\sfilter=lfs\b/.test(attributes)
      ? ['Files of Git LFS are not fetched: what stands in their places names them. Have the build command fetch them.']
      : []),
  ]
}
