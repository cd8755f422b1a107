import type { Runtime } from '../../shared/service-details.ts'
import type { Stack } from '../platform/stack.ts'
import { shellWord } from './shell-word.ts'

export interface Launch {
  runtime: Runtime | 'shell' | 'static'
  /** Empty for what is only published. */
  startCommand: string
  /** The folder below the root of the files that the command begins in; absent for the root itself. */
  appDir?: string
  /** What the toolchain wants of the environment. The user's own variables win over these. */
  env: Record<string, string>
  stack: Stack
}

/** A shell command that is run in a folder below its working directory. Not by the engine, which would enter it as root. */
export const commandIn = (dir: string | undefined, command: string): string =>
  dir === undefined ? command : `cd -- ${shellWord(dir)} || exit\n${command}`
