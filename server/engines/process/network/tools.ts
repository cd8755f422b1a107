import { runSystemTool } from '../../../platform/process/system-tools.ts'

/** What a program says to the commands it is given. @throws AppError `unavailable` with its own words when it fails. */
export const runTool = (argv: readonly string[], input = ''): Promise<string> => runSystemTool(argv, { input })

export const batchOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
