import type { Command } from 'commander'
import { gather } from './values.ts'

export const addScopeOptions = (command: Command, whom: string): Command =>
  command
    .option('--service <service>', `Confine ${whom} to this service, by name or id; several comma-joined or repeated`, gather)
    .option(
      '--environment <environment>',
      `Confine ${whom} to what is or will be in this environment, as project/environment or id`,
      gather,
    )
    .option('--project <project>', `Confine ${whom} to what is or will be in this project, by name or id`, gather)
