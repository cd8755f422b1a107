import { access, constants, readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isGoVersion } from './go-version.ts'
import type { Tool, ToolName } from './tool.ts'
import { versionOf } from './tool-version.ts'

/** The real program, or undefined when there is none or it is only the shim of a version manager, which needs the home it stands in. */
export async function findProgram(path: string): Promise<string | undefined> {
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

const versioned: ReadonlySet<ToolName> = new Set(['node', 'bun', 'python', 'go', 'cargo'])

export async function describeTool(folder: string, program: string, name: ToolName): Promise<Tool> {
  const prefixes = [dirname(folder), dirname(dirname(program))]
  const readOnlyBinds: string[] = []
  for (const prefix of new Set(prefixes)) if (await isPrivate(prefix)) readOnlyBinds.push(prefix)
  const version = versioned.has(name) ? await (name === 'go' ? versionOfGo(program) : versionOf(program)) : undefined
  return { directory: folder, ...(version !== undefined && { version }), env: {}, readOnlyBinds }
}

/** The version of Go stands in a file beside its programs, which saves starting one. */
async function versionOfGo(program: string): Promise<string | undefined> {
  const text = await readFile(join(dirname(dirname(program)), 'VERSION'), 'utf8').catch(() => '')
  const version = /^go(\S+)/.exec(text)?.[1]
  return version !== undefined && isGoVersion(version) ? version : undefined
}

const OTHERS_MAY_PASS = 0o001

export async function isPrivate(path: string): Promise<boolean> {
  for (let folder = path; folder !== '/'; folder = dirname(folder)) {
    if (((await stat(folder)).mode & OTHERS_MAY_PASS) === 0) return true
  }
  return false
}
