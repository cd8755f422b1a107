import { lstat, readdir, readlink, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { messageOf } from '../../shared/error.ts'
import { CliError, usageError } from '../base/error.ts'
import { type IgnoreRules, ignoreRules } from './ignored.ts'

/** A file or link that is part of a source; `path` is relative to its root, with slashes. */
export type SourceFile =
  | { kind: 'file'; path: string; absolutePath: string; sizeBytes: number; isExecutable: boolean; modifiedAt: Date }
  | { kind: 'link'; path: string; target: string; modifiedAt: Date }

/** What is deployed of a folder, by name. @throws CliError when it is no folder, holds nothing, or has a link that leads out of it. */
export async function sourceFiles(root: string): Promise<SourceFile[]> {
  const entry = await lstat(root).catch(() => undefined)
  if (entry === undefined) throw usageError(`There is no folder ${root}.`)
  const real = await realpath(root)
  if (!(await lstat(real)).isDirectory()) throw usageError(`${root} is not a folder.`, 'Give the folder that holds the source.')
  const files = await filesIn(real, '', await ignoreRules(real))
  if (files.length === 0)
    throw usageError(`There is nothing to deploy in ${root}.`, 'See whether .gitignore or .cpignore leaves out everything.')
  return files
}

async function filesIn(root: string, folder: string, rules: IgnoreRules): Promise<SourceFile[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(unreadable(folder))
  const kept = entries.filter((entry) => !rules.ignores(entry.name, entry.isDirectory() ? 'directory' : 'file'))
  const ordered = kept.sort((a, b) => (a.name < b.name ? -1 : 1))
  const found = await Promise.all(
    ordered.map(async (entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) return filesIn(root, path, await rules.enter(entry.name))
      if (entry.isSymbolicLink()) return [await linkAt(root, path)]
      return entry.isFile() ? [await fileAt(root, path)] : []
    }),
  )
  return found.flat()
}

async function fileAt(root: string, path: string): Promise<SourceFile> {
  const absolutePath = join(root, path)
  const { size, mode, mtime } = await lstat(absolutePath).catch(unreadable(path))
  return { kind: 'file', path, absolutePath, sizeBytes: size, isExecutable: (mode & 0o100) !== 0, modifiedAt: mtime }
}

/** Links are sent as links, relative ones, and only where they stay inside: anything else means something different on the server. */
async function linkAt(root: string, path: string): Promise<SourceFile> {
  const absolutePath = join(root, path)
  const [written, { mtime }] = await Promise.all([readlink(absolutePath), lstat(absolutePath)])
  const folder = dirname(absolutePath)
  const target = isAbsolute(written) ? relative(folder, written) : written
  if (/^\.\.(\/|$)/.test(relative(root, join(folder, target)))) {
    throw new CliError('bad_request', `The link ${path} leads out of the folder, to ${written}.`, {
      hint: 'Copy what it points to, or leave the link out with a line in .cpignore.',
    })
  }
  return { kind: 'link', path, target: target === '' ? '.' : target, modifiedAt: mtime }
}

const unreadable =
  (path: string) =>
  (error: unknown): never => {
    const reason = messageOf(error)
    throw new CliError('bad_request', `Cannot read ${path === '' ? 'the folder' : path}: ${reason}`, { cause: error })
  }
