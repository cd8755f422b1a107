import { runSystemTool, type ToolOptions } from '../../../platform/process/system-tools.ts'

const TOOL_TIMEOUT_MS = 30 * 60_000

export const runTool = (argv: readonly string[], options: ToolOptions = {}): Promise<string> =>
  runSystemTool(argv, { timeoutMs: TOOL_TIMEOUT_MS, ...options })
