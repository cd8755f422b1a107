import { readdir, unlink } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import { statBeneath } from '../../platform/files/tree/beneath.ts'
import { freezeFolder, freezeTree, type NewOwner } from '../../platform/files/tree/freeze.ts'
import { removeTree } from '../../platform/files/tree/remove.ts'

export interface ArtifactOptions {
  buildDir: string
  sourceDir: string
  /** The first of these folders that exists is the release; all of the source when there are none. */
  publishPaths: readonly string[]
  owner: NewOwner | undefined
  log: (line: string) => void
}

/** Takes what a build has left from its user; returns the folder to release, frozen. @throws AppError `bad_request` saying why it cannot be released. */
export async function takeArtifact({ buildDir, sourceDir, publishPaths, owner, log }: ArtifactOptions): Promise<string> {
  await freezeWay(buildDir, relative(buildDir, sourceDir), owner)
  await pruneSource(sourceDir)
  if (publishPaths.length === 0) {
    await freezeTree(sourceDir, owner)
    return sourceDir
  }
  const published = findPublished(sourceDir, publishPaths)
  await freezeWay(sourceDir, published, owner)
  const folder = join(sourceDir, published)
  await freezeTree(folder, owner)
  await settleLinks(folder, log)
  return folder
}

/** From the top down, so that each folder is looked at when nobody can exchange it any more. */
async function freezeWay(from: string, path: string, owner: NewOwner | undefined): Promise<void> {
  const names = path.split(sep).filter((name) => name !== '')
  for (const [index] of names.entries()) await freezeFolder(join(from, ...names.slice(0, index + 1)), owner)
}

/** Version control of the source: no app needs it at run time, and a site must not publish it. */
const VERSION_CONTROL = ['.git', '.hg', '.svn']

async function pruneSource(sourceDir: string): Promise<void> {
  for (const name of VERSION_CONTROL) await removeTree(join(sourceDir, name))
}

function findPublished(sourceDir: string, publishPaths: readonly string[]): string {
  for (const path of publishPaths) {
    const found = statBeneath(sourceDir, path)
    if (found.kind === 'folder') return found.realPath
    if (found.kind === 'outside')
      throw new AppError('bad_request', `Build failed: the publish path ${JSON.stringify(path)} leads out of the source`)
  }
  const wanted = publishPaths.map((path) => JSON.stringify(path)).join(', ')
  throw new AppError(
    'bad_request',
    `Build failed: the build has made no folder ${wanted}; set publishPath to the folder that holds the site`,
  )
}

const MOST_LINKS_TOLD = 50

/** Everybody may read a published folder, so a link could publish any file of this machine: none may lead out, now or when its target is made. */
async function settleLinks(root: string, log: (line: string) => void): Promise<void> {
  let leftOut = 0
  for await (const path of linksIn(root)) {
    if (leadsSomewhere(root, path)) continue
    // A build may make any number of them.
    if (++leftOut <= MOST_LINKS_TOLD) log(`    ${JSON.stringify(path)} is a link to nothing and is left out`)
    await unlink(join(root, path))
  }
  if (leftOut > MOST_LINKS_TOLD) log(`    ${leftOut - MOST_LINKS_TOLD} more are links to nothing and are left out`)
}

async function* linksIn(root: string): AsyncGenerator<string> {
  const folders = ['']
  // Not by a recursive readdir: Bun's follows links to folders.
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) folders.push(path)
      if (entry.isSymbolicLink()) yield path
    }
  }
}

/** @throws AppError `bad_request` for a link that leads out. */
function leadsSomewhere(root: string, path: string): boolean {
  const { kind } = statBeneath(root, path)
  if (kind === 'outside')
    throw new AppError('bad_request', `Build failed: ${JSON.stringify(path)} is a link that leads out of the published folder`)
  return kind === 'file' || kind === 'folder'
}
