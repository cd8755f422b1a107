import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { createProgram } from '../../../../../cli/program.ts'
import { realIo } from '../../../../../cli/session/io.ts'
import { chapters } from '../../../../../server/api/pages/guide/chapters.ts'
import { controlCommands } from '../../../../../server/boot/commands/control.ts'
import { describeConfig, readConfig } from '../../../../../server/boot/settings/config.ts'

const root = join(import.meta.dirname, '../../../../..')
const documents = [
  ['README', readFileSync(join(root, 'README.md'), 'utf8')] as const,
  ...chapters.filter(({ slug }) => slug !== 'changelog').map(({ slug, text }) => [slug, text] as const),
]

const cpd = new Command('cpd')
for (const command of controlCommands()) cpd.addCommand(command)
const programs = { cpd, cpctl: createProgram(realIo()) }

interface Written {
  program: keyof typeof programs
  words: string[]
}

/** Command lines in listings and code spans, without what follows in comments or behind `--`. */
function commandsIn(text: string): Written[] {
  const lines = [...text.matchAll(/^\$ (?:sudo )?(.+)$/gm), ...text.matchAll(/`((?:cpctl|cpd) [^`]+)`/g)].flatMap(([, line = '']) =>
    line.split('&&'),
  )
  return lines.flatMap((line) => {
    const [, program, rest = ''] = /^\s*(?:\S*\/)?(cpctl|cpd) ([^#]*)/.exec(line) ?? []
    if (program !== 'cpctl' && program !== 'cpd') return []
    return [{ program, words: (rest.split(' -- ')[0] ?? '').split(/\s+/).filter((word) => word !== '' && word !== '\\' && word !== '…') }]
  })
}

/** What is wrong with a command line; `a|b` stands for both. */
function faultsOf({ program, words }: Written): string[] {
  const faults: string[] = []
  let commands: Command[] = [programs[program]]
  for (const word of words) {
    if (word.startsWith('-')) {
      const flag = word.replace(/=.*/, '')
      for (const command of commands)
        if (!optionsOf(command).includes(flag) && !isBundle(command, flag)) faults.push(`${program} ${words.join(' ')}: ${flag}`)
    } else if (commands.some(({ commands: below }) => below.length > 0)) {
      const found = word.split('|').map((name) => commands[0]?.commands.find((one) => one.name() === name || one.aliases().includes(name)))
      if (found.includes(undefined)) return [...faults, `${program} ${words.join(' ')}: ${word}`]
      commands = found.filter((one) => one !== undefined)
    }
  }
  return faults
}

const optionsOf = (command: Command): string[] => [
  '--help',
  ...command.options.flatMap(({ short, long }) => [short, long]).filter((flag) => flag !== undefined && flag !== null),
  ...(command.parent === null ? [] : optionsOf(command.parent)),
]

/** Short flags written together, as `-it`. */
const isBundle = (command: Command, flag: string): boolean =>
  /^-[a-z]{2,}$/.test(flag) && [...flag.slice(1)].every((letter) => optionsOf(command).includes(`-${letter}`))

describe.each(documents)('%s', (_, text) => {
  test('writes only commands and flags that there are', () => {
    expect(commandsIn(text).flatMap(faultsOf)).toEqual([])
  })

  test('names only settings that there are', () => {
    const known = new Set<string>(describeConfig(readConfig({}, {}, true)).map(({ name }) => name))
    expect([...text.matchAll(/\bCP_[A-Z_]+\b/g)].map(([name]) => name).filter((name) => !known.has(name))).toEqual([])
  })
})

test('a command or flag that there is not would be noticed', () => {
  const faults = commandsIn('`cpctl deploys list|nonsense`, `cpctl logs --nonsense` and\n$ cpd nonsense\n').flatMap(faultsOf)
  expect(faults).toHaveLength(3)
  expect(documents.flatMap(([, text]) => commandsIn(text)).length).toBeGreaterThan(80)
})
