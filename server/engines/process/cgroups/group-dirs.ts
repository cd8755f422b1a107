import { readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

export function groupNames(directories: string[]): string[] {
  const names = new Set<string>()
  for (const directory of directories) {
    for (const service of childDirs(directory)) {
      for (const workload of childDirs(join(directory, service))) names.add(`${service}/${workload}`)
    }
  }
  return [...names]
}

export function childDirs(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
  } catch {
    return []
  }
}

export function removeGroup(directories: string[], group: string): boolean {
  const isRemoved = directories.map((directory) => removeDir(join(directory, group))).every(Boolean)
  for (const directory of directories) removeDir(join(directory, group, '..'))
  return isRemoved
}

export function removeDir(directory: string): boolean {
  try {
    rmdirSync(directory)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT'
  }
}

export function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
