import { access, constants, glob, readFile, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { runProcess } from '../../platform/process/spawn.ts'
import { nodeHeadersEnv } from './node-headers.ts'
import { STAND_IN_DIR } from './stand-in.ts'
import { type Tool, type Toolchains, type ToolName, toolNames } from './tool.ts'
import { versionOf } from './tool-version.ts'

/** Folders that hold toolchains on the usual machines; `*` is any one name. CP_BUILD_PATH comes before them. */
export const DEFAULT_TOOLCHAIN_PATH = [
  '/usr/local/bin',
  '/usr/bin',
  '/bin',
  '/usr/local/go/bin',
  '/usr/local/rustup/toolchains/*/bin',
  '/opt/*/bin',
]

const HOME_TOOLCHAIN_PATH = [
  '.pyenv/versions/*/bin',
  '.rustup/toolchains/*/bin',
  '.nvm/versions/node/*/bin',
  'go/bin',
  '.bun/bin',
  '.local/bin',
]

/** The home of whoever runs us; a user without an entry in passwd and without HOME has none. */
export function ownHomes(): string[] {
  try {
    return [homedir()]
  } catch {
    return []
  }
}

interface SearchOptions {
  searchPath: readonly string[]
  homes: readonly string[]
  selfToolchainDir?: string
}

const programs: Record<ToolName, string> = { node: 'node', npm: 'npm', bun: 'bun', python: 'python3', go: 'go', cargo: 'cargo' }

/** Finds the toolchains on this machine. Programs that a service's user could not run come with the folders to bind for it. */
export async function findToolchains({ searchPath, homes, selfToolchainDir }: SearchOptions): Promise<Toolchains> {
  const folders = await expandFolders([...searchPath, ...(await homeFolders(homes))])
  const found: Toolchains = { tools: {}, problems: {} }
  for (const name of toolNames) await findTool(found, name, folders)
  if (selfToolchainDir !== undefined) await addOwnTools(found, selfToolchainDir)
  return { ...found, nodeBuildEnv: await nodeHeadersEnv(found.tools) }
}

async function addOwnTools(found: Toolchains, directory: string): Promise<void> {
  const readOnlyBinds = (await isPrivate(directory)) ? [directory] : []
  const own: Tool = { directory, version: Bun.version, isOurs: true, env: { BUN_BE_BUN: '1' }, readOnlyBinds }
  found.tools.bun ??= own
  found.standIn = { ...own, directory: join(directory, STAND_IN_DIR) }
}

/** The versions that pyenv and rustup have been told to use come before the others of a home. */
async function homeFolders(homes: readonly string[]): Promise<string[]> {
  const folders = await Promise.all(
    homes.map(async (home) => {
      const pyenv = (await readIfThere(join(home, '.pyenv/version'))).split('\n')[0]?.trim()
      const rustup = /^default_toolchain\s*=\s*"([^"]+)"/m.exec(await readIfThere(join(home, '.rustup/settings.toml')))?.[1]
      const chosen = [...(pyenv ? [`.pyenv/versions/${pyenv}/bin`] : []), ...(rustup ? [`.rustup/toolchains/${rustup}/bin`] : [])]
      return [...chosen, ...HOME_TOOLCHAIN_PATH].map((folder) => join(home, folder))
    }),
  )
  return folders.flat()
}

async function readIfThere(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}

async function expandFolders(patterns: readonly string[]): Promise<string[]> {
  const expanded = await Promise.all(
    patterns.map(async (pattern) => (pattern.includes('*') ? newestFirst(await Array.fromAsync(glob(pattern))) : [pattern])),
  )
  return [...new Set(expanded.flat())]
}

const newestFirst = (paths: string[]): string[] => paths.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))

async function findTool(found: Toolchains, name: ToolName, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const program = await findProgram(join(folder, programs[name]))
    if (program === undefined) continue
    const problem = name === 'python' ? await pythonProblem(program) : undefined
    if (problem === undefined) {
      found.tools[name] = await describeTool(folder, program, name)
      delete found.problems[name]
      return
    }
    found.problems[name] ??= problem
  }
}

/** The real program, or undefined when there is none or it is only the shim of a version manager, which needs the home it stands in. */
async function findProgram(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK)
    const real = await realpath(path)
    const found = await stat(real)
    const isShim =
      real.includes('/.pyenv/shims/') || basename(real) === 'rustup' || found.ino === (await inodeOf(join(dirname(real), 'rustup')))
    return found.isFile() && !isShim ? real : undefined
  } catch {
    return undefined
  }
}

/** rustup installs its shims as links to itself, symbolic or hard. */
async function inodeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    (found) => found.ino,
    () => undefined,
  )
}

const PYTHON_CHECK_TIMEOUT_MS = 10_000

async function pythonProblem(program: string): Promise<string | undefined> {
  const check = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 8))'
  const { exitCode } = await runProcess([program, '-I', '-c', check], { timeoutMs: PYTHON_CHECK_TIMEOUT_MS }).catch(() => ({
    exitCode: null,
  }))
  return exitCode === 0 ? undefined : `${program} is older than 3.8 or lacks venv; Debian: apt install python3-venv`
}

const versioned: ReadonlySet<ToolName> = new Set(['node', 'bun', 'python', 'cargo'])

async function describeTool(folder: string, program: string, name: ToolName): Promise<Tool> {
  const prefixes = [dirname(folder), dirname(dirname(program))]
  const readOnlyBinds: string[] = []
  for (const prefix of new Set(prefixes)) if (await isPrivate(prefix)) readOnlyBinds.push(prefix)
  const version = versioned.has(name) ? await versionOf(program) : undefined
  return { directory: folder, ...(version !== undefined && { version }), env: {}, readOnlyBinds }
}

const OTHERS_MAY_PASS = 0o001

async function isPrivate(path: string): Promise<boolean> {
  for (let folder = path; folder !== '/'; folder = dirname(folder)) {
    if (((await stat(folder)).mode & OTHERS_MAY_PASS) === 0) return true
  }
  return false
}
