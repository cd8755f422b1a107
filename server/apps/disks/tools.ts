import { runSystemTool, type ToolOptions } from '../../platform/process/system-tools.ts'

/** A disk of many gigabytes is checked and copied in minutes. */
const TOOL_TIMEOUT_MS = 30 * 60_000

/** Runs a tool on a disk to its end. @throws AppError as `runSystemTool` does. */
export const runTool = (argv: readonly string[], options: ToolOptions = {}): Promise<string> =>
  runSystemTool(argv, { timeoutMs: TOOL_TIMEOUT_MS, ...options })
