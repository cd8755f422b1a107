import { runSystemTool } from '../../../platform/process/system-tools.ts'

export const runTool = (argv: readonly string[], input = ''): Promise<string> => runSystemTool(argv, { input })

export const batchOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
