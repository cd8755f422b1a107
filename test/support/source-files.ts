import { sourceById, sourceFile } from '../../server/apps/sources/store.ts'
import type { Context } from '../../server/boot/serve/context.ts'
import type { Deploy } from '../../shared/deploy.ts'

/** Names and content of the files that a deploy was built of. */
export async function filesOfSource({ db, paths }: Pick<Context, 'db' | 'paths'>, { source }: Deploy): Promise<Record<string, string>> {
  const stored = sourceById(db, source?.id ?? '')
  if (stored === undefined) throw new Error('It has no source.')
  const archive = new Bun.Archive(await Bun.file(sourceFile(paths, stored)).bytes())
  const files = [...(await archive.files())]
  return Object.fromEntries(await Promise.all(files.map(async ([name, file]) => [name, await file.text()] as const)))
}
