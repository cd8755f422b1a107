import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOf } from '../../shared/error.ts'
import { isId } from '../../shared/id.ts'
import { CliError, usageError } from '../base/error.ts'

export const LINK_FILE = '.cpd.json'
const MAX_BYTES = 4096
const MAX_NAME_CHARS = 63

export interface Link {
  project: string
  environment: string
  environmentId: string
}

export interface FoundLink extends Link {
  path: string
}

/** The link of a folder: its own, else that of the nearest folder above it. @throws CliError for a file that is none of ours. */
export async function findLink(folder: string, home: string): Promise<FoundLink | undefined> {
  for (const candidate of await foldersToLook(await realOf(folder), await realOf(home))) {
    const path = join(candidate, LINK_FILE)
    const text = await textOf(path)
    if (text !== undefined) return { ...parseLink(text, path), path }
  }
  return undefined
}

/** Writes the link of a folder. @returns the path of the file. @throws CliError where it cannot. */
export async function writeLink(folder: string, link: Link): Promise<string> {
  const path = join(folder, LINK_FILE)
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  try {
    await writeFile(temporary, `${JSON.stringify(link, null, 2)}\n`, { flag: 'wx' })
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw usageError(`Cannot write ${path}: ${messageOf(error)}`)
  }
  return path
}

export async function removeLink(path: string): Promise<void> {
  await rm(path, { force: true }).catch((error: unknown) => {
    throw usageError(`Cannot remove ${path}: ${messageOf(error)}`)
  })
}

/** A folder and those above it up to the repository's root or the home directory. Outside of both others may write above it: it alone. */
async function foldersToLook(folder: string, home: string): Promise<string[]> {
  const folders: string[] = []
  for (let at = folder; ; at = dirname(at)) {
    folders.push(at)
    if (at === home || (await isThere(join(at, '.git')))) return folders
    if (dirname(at) === at) return [folder]
  }
}

export function parseLink(text: string, path: string): Link {
  const { project, environment, environmentId, ...others } = objectIn(text)
  const isLink = isName(project) && isName(environment) && typeof environmentId === 'string' && isId('environment', environmentId)
  if (!isLink || Object.keys(others).length > 0) throw notOurs(path)
  return { project, environment, environmentId }
}

function objectIn(text: string): Partial<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
  } catch {
    return {}
  }
}

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= MAX_NAME_CHARS

/** The text of a plain file that is no longer than a link can be: a pipe would hang, a link could lead anywhere. */
async function textOf(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw notOurs(path, error)
  })
  if (file === undefined) return undefined
  try {
    const { size } = await file.stat().then((entry) => (entry.isFile() ? entry : { size: Number.POSITIVE_INFINITY }))
    if (size > MAX_BYTES) throw notOurs(path)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

const notOurs = (path: string, cause?: unknown): CliError =>
  new CliError('bad_request', `${path} is no link of cpctl.`, {
    cause,
    hint: 'Write it anew with cpctl link <project/environment>, or remove it.',
  })

const realOf = (path: string): Promise<string> => realpath(path).catch(() => path)

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
