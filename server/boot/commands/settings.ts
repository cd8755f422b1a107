import { Command } from 'commander'
import { type Config, readConfig, type SettingName, serveFlags } from '../settings/config.ts'
import { ownEnvironment } from '../settings/environment.ts'

export function commandWithSettings(name: string): Command {
  const command = new Command(name)
  for (const { flag, help } of serveFlags) command.option(`${flag} <value>`, help)
  return command
}

export function configOf(command: Command): Config {
  const options = command.opts<Record<string, string | undefined>>()
  const given = serveFlags.flatMap(({ name, flag }): [SettingName, string][] => {
    const value = options[camelCase(flag.slice('--'.length))]
    return value === undefined ? [] : [[name, value]]
  })
  return readConfig(ownEnvironment(), Object.fromEntries(given), process.getuid?.() === 0)
}

const camelCase = (flag: string): string => flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
