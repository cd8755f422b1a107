import { Command } from 'commander'
import { type Config, readConfig, type SettingName, serveFlags } from '../settings/config.ts'
import { ownEnvironment } from '../settings/environment.ts'

/** A command that takes the flags of `cpd serve`. */
export function commandWithSettings(name: string): Command {
  const command = new Command(name)
  for (const { flag, help } of serveFlags) command.option(`${flag} <value>`, help)
  return command
}

/** The configuration out of a command's flags and the environment. @throws AppError bad_request naming what is wrong. */
export function configOf(command: Command): Config {
  const options = command.opts<Record<string, string | undefined>>()
  const given = serveFlags.flatMap(({ name, flag }): [SettingName, string][] => {
    const value = options[camelCase(flag.slice('--'.length))]
    return value === undefined ? [] : [[name, value]]
  })
  return readConfig(ownEnvironment(), Object.fromEntries(given), process.getuid?.() === 0)
}

const camelCase = (flag: string): string => flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
