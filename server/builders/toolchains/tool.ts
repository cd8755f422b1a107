import { AppError } from '../../../shared/error.ts'

export const toolNames = ['node', 'npm', 'bun', 'python', 'go', 'cargo'] as const
export type ToolName = (typeof toolNames)[number]

export interface Tool {
  directory: string
  /** The name of the program in there, where it is not the usual one. */
  program?: string
  version?: string
  isOurs?: true
  env: Record<string, string>
  readOnlyBinds: string[]
}

export interface Toolchains {
  tools: Partial<Record<ToolName, Tool>>
  problems: Partial<Record<ToolName, string>>
  standIn?: Tool
  /** The package manager that a project names, before all else in a search path. */
  manager?: Tool
  /** Installs the packages of Python; pip does it where there is none. */
  uv?: Tool
  nodeBuildEnv?: Record<string, string>
}

const titles: Record<ToolName, { title: string; remedy: string }> = {
  node: { title: 'Node.js', remedy: 'install it (Debian: apt install nodejs npm), or set runtime to bun' },
  npm: { title: 'npm', remedy: 'install it (Debian: apt install npm)' },
  bun: { title: 'Bun', remedy: 'install it (npm install --global bun)' },
  python: { title: 'Python 3', remedy: 'install it (Debian: apt install python3 python3-venv)' },
  go: { title: 'Go', remedy: 'unpack a release from https://go.dev/dl/ to /usr/local/go' },
  cargo: { title: 'Rust', remedy: 'install it (https://rustup.rs, or Debian: apt install cargo)' },
}

/** @throws AppError `bad_request` telling how to get the toolchain that is missing. */
export function requireTool(toolchains: Toolchains, name: ToolName): Tool {
  const tool = toolchains.tools[name]
  if (tool !== undefined) return tool
  const { title, remedy } = titles[name]
  const problem = toolchains.problems[name]
  const state = problem === undefined ? 'is not installed on this server' : `cannot be used on this server (${problem})`
  throw new AppError('bad_request', `${title} ${state}: ask its operator to ${remedy}; a folder of its own is named in CP_BUILD_PATH`)
}

export function mergeTools(tools: readonly Tool[]): { pathEntries: string[]; env: Record<string, string>; readOnlyBinds: string[] } {
  return {
    pathEntries: [...new Set(tools.map((tool) => tool.directory))],
    env: Object.assign({}, ...tools.map((tool) => tool.env)),
    readOnlyBinds: [...new Set(tools.flatMap((tool) => tool.readOnlyBinds))],
  }
}
