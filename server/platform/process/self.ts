import packageJson from '../../../package.json' with { type: 'json' }

export const version = packageJson.version

export const isCompiled: boolean = Bun.main.startsWith('/$bunfs/')

export const selfCommand: readonly string[] = isCompiled ? [process.execPath] : [process.execPath, Bun.main]
