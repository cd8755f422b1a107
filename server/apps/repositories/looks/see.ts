import type { AppContext } from '../../context.ts'
import type { StoredService } from '../../services/store.ts'
import { keyHolderOf } from '../deploy-keys/key-holder.ts'
import type { Remote } from '../git/environment.ts'
import { findRef } from '../git/find-ref.ts'
import { inGitFolder } from '../git/folder.ts'
import { readCommit } from '../git/read-commit.ts'
import { openRemote } from '../git/remote.ts'
import { runGit } from '../git/run.ts'
import { explain } from './explain.ts'
import type { Found } from './plan.ts'

export interface Seen {
  found: Found
  message: string
}

interface Looked {
  known: readonly (string | null | undefined)[]
  signal: AbortSignal
}

export async function seeBranch(context: AppContext, service: StoredService, looked: Looked): Promise<Seen> {
  const { workspaceId, labels } = service
  try {
    const remote = await openRemote(context, { workspaceId, serviceId: keyHolderOf(service), url: labels.repo }, looked.signal)
    return await inGitFolder(context, remote, (folder) => see(context, service, { ...looked, folder, remote }))
  } catch (error) {
    return { found: await explain(context, service, { error, signal: looked.signal }), message: '' }
  }
}

interface Looking extends Looked {
  folder: string
  remote: Remote
}

async function see(context: AppContext, { labels }: StoredService, { known, folder, remote, signal }: Looking): Promise<Seen> {
  const commitId = await findRef(context, { folder, remote, ref: labels.branch, signal })
  if (commitId === undefined) return { found: { kind: 'gone' }, message: '' }
  const found = { kind: 'at', commitId } as const
  if (known.includes(commitId)) return { found, message: '' }
  await runGit(context, { folder, args: ['-C', folder, 'init', '--quiet', '--bare', '--template='], signal })
  const withoutFiles = ['--depth=1', '--filter=tree:0', '--no-tags', '--no-recurse-submodules']
  const args = ['-C', folder, 'fetch', '--quiet', ...withoutFiles, '--', remote.url.href, commitId]
  await runGit(context, { folder, args, remote, signal })
  return { found, message: (await readCommit(context, { folder, commitId, signal })).commitMessage ?? '' }
}
