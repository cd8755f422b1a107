import type { Command } from 'commander'
import { describeConfig } from '../settings/config.ts'
import { commandWithSettings, configOf } from './settings.ts'

export function configCommand(): Command {
  const command = commandWithSettings('config').description('Print the effective settings, secrets only as set or not')
  return command.action(() => {
    const rows = describeConfig(configOf(command))
    const width = Math.max(...rows.map(({ name }) => name.length))
    const entries = rows.map(({ name, value, help }) => `${name.padEnd(width)}  ${value}\n${' '.repeat(width)}  # ${help}\n`)
    // One write, since whoever reads a pipe may have enough of its beginning, as `head` has.
    process.stdout.write(entries.join(''))
  })
}
