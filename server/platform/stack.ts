/** What a program needs beside its own files. Builders make it, engines understand it, and whoever stands between hands it on as it is. */
export type Stack = HostStack

export type StackKind = Stack['kind']

/** Toolchains of the machine that built the files, which is also the one that runs them. */
export interface HostStack {
  kind: 'host'
  folders: readonly string[]
  /** Folders for PATH, before the system's. Relative ones are below the folder that the program begins in. */
  searchPath: readonly string[]
}

const SYSTEM_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

export function searchPathIn({ searchPath }: HostStack, folder: string): string {
  const own = searchPath.map((entry) => (entry.startsWith('/') ? entry : `${folder}/${entry}`))
  return [...new Set([...own, ...SYSTEM_PATH])].join(':')
}
