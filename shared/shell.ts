import { type Static, Type } from '@sinclair/typebox'
import { instanceIdPattern } from './id.ts'
import { planNames } from './plan.ts'
import { OneOf } from './schema.ts'

/** Binary frames are the terminal's bytes, text frames JSON. The server ends with `exit` and 1000, or with a code and a reason. */

/** The most a client may have typed that the program has not taken; a client that goes beyond is cut off. */
export const shellInputWindowBytes = 256 * 1024
/** The longest frame either side sends. */
export const shellFrameBytes = 32 * 1024

const Columns = Type.Integer({ minimum: 1, maximum: 1000 })
const Rows = Type.Integer({ minimum: 1, maximum: 1000 })
export const defaultShellSize = { columns: 80, rows: 24 }

export const terminalNamePattern = '^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$'
export const defaultTerminalName = 'xterm-256color'

/** How a client's terminal is, and how much may be on its way to it. */
const terminalFields = {
  columns: Type.Optional(Columns),
  rows: Type.Optional(Rows),
  term: Type.Optional(Type.String({ pattern: terminalNamePattern, description: `TERM of the command; default: ${defaultTerminalName}` })),
  outputWindow: Type.Optional(
    Type.Integer({
      minimum: 4096,
      maximum: 4 * 1024 * 1024,
      description: 'Most bytes of output under way: the client says with `taken` what it has shown. Default: what the connection holds',
    }),
  ),
}

export const ShellQuery = Type.Object({
  instance: Type.Optional(
    Type.String({
      pattern: instanceIdPattern,
      description: 'Instance whose processes, files and network the shell sees; default: the newest that runs, else one of its own',
    }),
  ),
  command: Type.Optional(
    Type.String({ minLength: 1, maxLength: 4096, pattern: '^[^\\u0000]*$', description: 'Shell command; default: bash, else sh' }),
  ),
  ...terminalFields,
})
export type ShellQuery = Static<typeof ShellQuery>

/** A job whose command asks and is answered on the client's terminal. */
export const JobTerminalQuery = Type.Object({
  startCommand: Type.String({
    minLength: 1,
    maxLength: 4096,
    pattern: '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$',
    description: 'A shell command line, run in the folder of the live release',
    examples: ['python manage.py createsuperuser'],
  }),
  planId: Type.Optional(OneOf(planNames, 'What it may use; default: the plan of the service')),
  ...terminalFields,
})
export type JobTerminalQuery = Static<typeof JobTerminalQuery>

/** What a client says. `taken` counts bytes of output that it has shown since the last one. */
export const ShellRequest = Type.Union([
  Type.Object({ type: Type.Literal('resize'), columns: Columns, rows: Rows }),
  Type.Object({ type: Type.Literal('taken'), bytes: Type.Integer({ minimum: 0 }) }),
])
export type ShellRequest = Static<typeof ShellRequest>

/** What the server says. `taken` counts bytes of input that the program's terminal has taken since the last one. */
export const ShellNotice = Type.Union([
  Type.Object({ type: Type.Literal('taken'), bytes: Type.Integer({ minimum: 0 }) }),
  Type.Object({
    type: Type.Literal('exit'),
    exitCode: Type.Union([Type.Integer(), Type.Null()]),
    signal: Type.Union([Type.String(), Type.Null()]),
  }),
])
export type ShellNotice = Static<typeof ShellNotice>

/** Close codes of the server's (RFC 6455 and its registry). */
export const shellCloseCodes = { ended: 1000, stopping: 1001, refused: 1008, failed: 1011 } as const
