import { chmod, copyFile, mkdir, open, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAll } from '../files/write-all.ts'
import { checkLinks, type TreeNode } from './links.ts'
import { type ExtractLimits, fileMode, parseEntryPath, refuseArchive, refuseEntry } from './rules.ts'

export interface ExtractResult {
  fileCount: number
  totalBytes: number
}

/** Links are only remembered until `finish`, so while files are written no link is on disk that one could be written through. */
export interface ExtractTarget {
  addDirectory(name: string): Promise<void>
  addFile(name: string, mode: number, content: AsyncIterable<Uint8Array>): Promise<void>
  addSymlink(name: string, target: string): void
  addHardLink(name: string, target: string): Promise<void>
  finish(): Promise<ExtractResult>
}

interface WrittenFile {
  mode: number
  sizeBytes: number
}

interface TargetState {
  root: string
  limits: ExtractLimits
  signal: AbortSignal | undefined
  nodes: Map<string, TreeNode>
  files: Map<string, WrittenFile>
  fileCount: number
  nameBytes: number
  totalBytes: number
}

const FOLDER_MODE = 0o755

export async function openExtractTarget(options: {
  root: string
  limits: ExtractLimits
  signal?: AbortSignal | undefined
}): Promise<ExtractTarget> {
  await makeFolder(options.root)
  const state: TargetState = {
    ...options,
    signal: options.signal,
    nodes: new Map(),
    files: new Map(),
    fileCount: 0,
    nameBytes: 0,
    totalBytes: 0,
  }
  return {
    addDirectory: async (name) => void (await ensureFolders(state, name, parseEntryPath(name, state.limits))),
    addFile: (name, mode, content) => addFile(state, { name, mode, content }),
    addSymlink: (name, target) => addSymlink(state, name, target),
    addHardLink: (name, target) => addHardLink(state, name, target),
    finish: () => finish(state),
  }
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path)
  // The mode given to mkdir would be narrowed by our own umask.
  await chmod(path, FOLDER_MODE)
}

async function ensureFolders(state: TargetState, name: string, segments: readonly string[]): Promise<void> {
  let path = ''
  for (const segment of segments) {
    path = path === '' ? segment : `${path}/${segment}`
    const node = state.nodes.get(path)
    if (node === 'directory') continue
    if (node === 'file') throw refuseEntry(name, 'is below a path that is also a file')
    if (node !== undefined) throw refuseEntry(name, 'is below a path that is also a link')
    claim(state, path, 'directory')
    await makeFolder(join(state.root, path))
  }
}

function claim(state: TargetState, path: string, node: TreeNode): void {
  state.signal?.throwIfAborted()
  if (state.nodes.has(path)) throw refuseEntry(path, 'is in the archive twice')
  if (state.nodes.size >= state.limits.maxFiles) throw refuseArchive(`it holds more than ${state.limits.maxFiles} files`)
  state.nameBytes += Buffer.byteLength(path) + (typeof node === 'object' ? Buffer.byteLength(node.linkTo) : 0)
  if (state.nameBytes > state.limits.maxNameBytes)
    throw refuseArchive(`its file names have more than ${state.limits.maxNameBytes} bytes together`)
  state.nodes.set(path, node)
  if (node !== 'directory') state.fileCount += 1
}

async function placeEntry(state: TargetState, name: string): Promise<string> {
  const segments = parseEntryPath(name, state.limits)
  if (segments.length === 0 || name.endsWith('/')) throw refuseEntry(name, 'is a file with the name of a folder')
  await ensureFolders(state, name, segments.slice(0, -1))
  return segments.join('/')
}

async function addFile(state: TargetState, entry: { name: string; mode: number; content: AsyncIterable<Uint8Array> }): Promise<void> {
  const mode = fileMode(entry.name, entry.mode)
  const path = await placeEntry(state, entry.name)
  claim(state, path, 'file')
  const handle = await open(join(state.root, path), 'wx', mode)
  let sizeBytes = 0
  try {
    for await (const chunk of entry.content) {
      state.signal?.throwIfAborted()
      countBytes(state, chunk.length)
      sizeBytes += chunk.length
      await writeAll(handle, chunk)
    }
    await handle.chmod(mode)
  } finally {
    await handle.close()
  }
  state.files.set(path, { mode, sizeBytes })
}

function countBytes(state: TargetState, bytes: number): void {
  state.totalBytes += bytes
  if (state.totalBytes > state.limits.maxBytes) throw refuseArchive(`it unpacks to more than ${state.limits.maxBytes} bytes`)
}

function addSymlink(state: TargetState, name: string, target: string): void {
  const segments = parseEntryPath(name, state.limits)
  const path = segments.join('/')
  if (path === '' || target === '' || target.includes('\0')) throw refuseEntry(name, 'is a link without a usable target')
  if (Buffer.byteLength(target) > state.limits.maxPathBytes) throw refuseEntry(name, 'is a link with too long a target')
  claim(state, path, { linkTo: target })
}

async function addHardLink(state: TargetState, name: string, target: string): Promise<void> {
  const source = parseEntryPath(target, state.limits).join('/')
  const file = state.files.get(source)
  if (file === undefined) throw refuseEntry(name, 'is a hard link to something that is no earlier file of the archive')
  const path = await placeEntry(state, name)
  claim(state, path, 'file')
  countBytes(state, file.sizeBytes)
  await copyFile(join(state.root, source), join(state.root, path))
  await chmod(join(state.root, path), file.mode)
  state.files.set(path, file)
}

async function finish(state: TargetState): Promise<ExtractResult> {
  for (const [path, node] of [...state.nodes]) {
    if (typeof node === 'object') await ensureFolders(state, path, path.split('/').slice(0, -1))
  }
  checkLinks(state.nodes)
  for (const [path, node] of state.nodes) {
    if (typeof node === 'object') await symlink(node.linkTo, join(state.root, path))
  }
  if (state.fileCount === 0) throw refuseArchive('it is empty')
  return { fileCount: state.fileCount, totalBytes: state.totalBytes }
}
