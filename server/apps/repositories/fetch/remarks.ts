import { type GitCall, type GitContext, runGit } from '../git/run.ts'

interface Looked extends Pick<GitCall, 'folder' | 'signal'> {
  commitId: string
  areSubmodulesWanted: boolean
}

interface Found {
  hasSubmodules: boolean
  remarks: string[]
}

/** What of a commit is not among its files, for whoever would look for it there. @throws AppError as `runGit` does. */
export async function remarksOn(context: GitContext, { folder, commitId, signal, areSubmodulesWanted }: Looked): Promise<Found> {
  const git = (...args: string[]) => runGit(context, { folder, args: ['-C', folder, ...args], signal })
  const names = (await git('ls-tree', '-z', '--name-only', commitId, '--', '.gitmodules', '.gitattributes')).split('\0')
  const attributes = names.includes('.gitattributes') ? await git('cat-file', 'blob', `${commitId}:.gitattributes`) : ''
  const hasSubmodules = names.includes('.gitmodules')
  return { hasSubmodules, remarks: remarksFor({ hasOthers: hasSubmodules && !areSubmodulesWanted, attributes }) }
}

export function remarksFor({ hasOthers, attributes }: { hasOthers: boolean; attributes: string }): string[] {
  return [
    ...(hasOthers
      ? ['Submodules are not fetched: their folders are empty. To have them, set `cpctl services update --submodules` and deploy again.']
      : []),
    ...(/\sfilter=lfs\b/.test(attributes)
      ? ['Files of Git LFS are not fetched: what stands in their places names them. Have the build command fetch them.']
      : []),
  ]
}
