import packageJson from '../../../package.json' with { type: 'json' }

export const version = packageJson.version

export const isCompiled: boolean = Bun.main.startsWith('/$bunfs/')

/** How to start this program again: the executable alone when compiled, Bun and the entry file in the source tree. */
export const selfCommand: readonly string[] = isCompiled ? [process.execPath] : [process.execPath, Bun.main]
