import { isCommitId } from '../../../../shared/repository.ts'

/** What to ask a server for, where this is wanted: a branch before a tag, or the branch that it has for its own; none for a commit. */
export function wantedRefs(ref: string): string[] {
  if (ref === '') return ['HEAD']
  return [`refs/heads/${ref}`, `refs/tags/${ref}`, `refs/tags/${ref}^{}`]
}

/** The commit that one of the wanted refs stands at, by what `git ls-remote` has printed; of a tag with a message, what it is of. */
export function commitIn(printed: string, ref: string): string | undefined {
  const ids = new Map(printed.split('\n').map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, line.indexOf('\t'))] as const))
  const [branch = '', tag = '', peeled = ''] = wantedRefs(ref)
  return [branch, peeled, tag].map((name) => ids.get(name)).find((id) => id !== undefined && isCommitId(id))
}
