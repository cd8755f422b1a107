import { Type } from '@sinclair/typebox'
import { defineOperations } from '../operation.ts'
import { JobTerminalQuery, ShellQuery } from '../shell.ts'

export const shellOperations = defineOperations({
  openShell: {
    method: 'GET',
    path: '/v1/services/:serviceId/shell',
    access: 'shell.open',
    inProtected: 'refused',
    tag: 'Shells',
    summary: 'Open an interactive shell over a WebSocket',
    description: `Runs a command on a terminal beside an instance, as the service's user, with its variables, secret files and limits.
Binary frames are the terminal's bytes, both ways. Text frames are JSON: the client sends \`{"type":"resize","columns":…,"rows":…}\`, the server
\`{"type":"taken","bytes":…}\` for input the terminal has taken (at most 256 KiB may be under way) and at last \`{"type":"exit","exitCode":…,"signal":…}\`,
then closes with 1000. Everything that the shell started ends with it, and it ends when the client goes or answers no ping for 15 s.`,
    params: Type.Object({ serviceId: Type.String({ description: 'Id of the service' }) }),
    query: ShellQuery,
    responses: { 101: null },
    errors: ['not_found', 'conflict'],
    webSocket: true,
  },
  openJobTerminal: {
    method: 'GET',
    path: '/v1/services/:serviceId/interactive-jobs',
    access: 'jobs.run',
    inProtected: 'refused',
    tag: 'Jobs',
    summary: 'Run a job on a terminal over a WebSocket',
    description:
      'Like any job it has a sandbox and limits of its own, the disk of the service, and a place among its jobs. Frames are those of a shell. It ends as ' +
      'canceled when the client goes or answers no ping for 15 s.',
    params: Type.Object({ serviceId: Type.String({ description: 'Id of the service' }) }),
    query: JobTerminalQuery,
    responses: { 101: null },
    errors: ['not_found', 'conflict'],
    webSocket: true,
  },
})
