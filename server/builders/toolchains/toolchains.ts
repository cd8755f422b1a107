import { glob, readdir, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { runProcess } from '../../platform/process/spawn.ts'
import { describeTool, findProgram, isPrivate } from './find-program.ts'
import { nodeHeadersEnv } from './node-headers.ts'
import { isPython } from './python-specifiers.ts'
import { STAND_IN_DIR } from './stand-in.ts'
import { type Tool, type Toolchains, type ToolName, toolNames } from './tool.ts'

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

export interface Search {
  searchPath: readonly string[]
  homes: readonly string[]
}

interface SearchOptions extends Search {
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

/** Every Python of this machine that can make environments by uv, the ones that come first in the search first. */
export async function findInterpreters({ searchPath, homes }: Search): Promise<Tool[]> {
  const found = new Map<string, Tool>()
  for (const folder of await expandFolders([...searchPath, ...(await homeFolders(homes))])) {
    for (const name of (await namesIn(folder)).filter((one) => /^python3(\.\d+)?$/.test(one)).sort()) {
      const program = await findProgram(join(folder, name))
      if (program === undefined || found.has(program)) continue
      const tool = await describeTool(folder, program, 'python')
      if (tool.version !== undefined && isPython(tool.version, OLDEST_PYTHON)) found.set(program, { ...tool, program: name })
    }
  }
  return [...found.values()]
}

const OLDEST_PYTHON = '>=3.8'

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

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

const PYTHON_CHECK_TIMEOUT_MS = 10_000

async function pythonProblem(program: string): Promise<string | undefined> {
  const check = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 8))'
  const { exitCode } = await runProcess([program, '-I', '-c', check], { timeoutMs: PYTHON_CHECK_TIMEOUT_MS }).catch(() => ({
    exitCode: null,
  }))
  return exitCode === 0 ? undefined : `${program} is older than 3.8 or lacks venv; Debian: apt install python3-venv`
}
