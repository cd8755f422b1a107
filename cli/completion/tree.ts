import type { Command } from 'commander'

export interface Word {
  text: string
  description: string
}

/** What may follow after some commands: `path` is empty for the program itself, `services list` for a nested command. */
export interface Place {
  path: string
  commands: Word[]
  options: Word[]
}

/** Every command of the program with what may follow it, parents first. */
export function placesOf(program: Command): Place[] {
  const globals = optionsOf(program)
  const visit = (command: Command, path: string): Place[] => {
    const { commands } = command
    const own = command === program ? globals : [...optionsOf(command), ...globals]
    const place = { path, commands: commands.map((child) => ({ text: child.name(), description: child.description() })), options: own }
    return [place, ...commands.flatMap((child) => visit(child, path === '' ? child.name() : `${path} ${child.name()}`))]
  }
  return visit(program, '')
}

const optionsOf = (command: Command): Word[] =>
  command.options
    .filter((option) => !option.hidden && option.long !== undefined && option.long !== null)
    .map((option) => ({ text: option.long ?? '', description: option.description }))
