import { lstat, readdir, readlink, realpath, rm } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { AppError } from '../../shared/error.ts'

/** Version control of the source: no app needs it at run time, and a site must not publish it. */
const VERSION_CONTROL = ['.git', '.hg', '.svn']

/** Takes out of a built source what no release needs. */
export async function pruneSource(sourceDir: string): Promise<void> {
  for (const name of VERSION_CONTROL) await rm(join(sourceDir, name), { recursive: true, force: true })
}

/**
 * The folder of the built site: the first of `publishPaths` that exists.
 *
 * @throws AppError `bad_request` when none does, it lies outside of the source, or a link in it leads out of it: everybody
 * may read a published folder, so a link could publish any file of this machine.
 */
export async function findPublished(sourceDir: string, publishPaths: readonly string[]): Promise<string> {
  const root = await realpath(sourceDir)
  for (const path of publishPaths) {
    const folder = await realpath(join(root, path)).catch(() => undefined)
    if (folder === undefined || !(await lstat(folder)).isDirectory()) continue
    if (!isInside(folder, root))
      throw new AppError('bad_request', `Build failed: the publish path ${JSON.stringify(path)} leads out of the source`)
    await refuseOutwardLinks(folder)
    return folder
  }
  const wanted = publishPaths.map((path) => JSON.stringify(path)).join(', ')
  throw new AppError(
    'bad_request',
    `Build failed: the build has made no folder ${wanted}; set publishPath to the folder that holds the site`,
  )
}

const isInside = (path: string, root: string): boolean => path === root || path.startsWith(root + sep)

async function refuseOutwardLinks(root: string): Promise<void> {
  const folders = [root]
  // Not by a recursive readdir: Bun's follows links to folders.
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(path)
      if (entry.isSymbolicLink()) await refuseOutwardLink(path, root)
    }
  }
}

async function refuseOutwardLink(path: string, root: string): Promise<void> {
  const target = await readlink(path)
  const real = await realpath(path).catch(() => resolve(dirname(path), target))
  if (isAbsolute(target) || !isInside(real, root)) {
    throw new AppError(
      'bad_request',
      `Build failed: ${JSON.stringify(relative(root, path))} is a link that leads out of the published folder`,
    )
  }
}
