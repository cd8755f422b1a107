import { expect, test } from 'vitest'
import { commandLine } from '../../cli/shell/command-line.ts'
import { runProcess } from '../../server/platform/process/spawn.ts'

test('one word is a command line as it stands', () => {
  expect(commandLine(['echo $HOME | wc -c'])).toBe('echo $HOME | wc -c')
})

test('several words are a program and its arguments, quoted where a shell would read more into them', () => {
  expect(commandLine(['npm', 'run', 'db:migrate', '--to=3'])).toBe('npm run db:migrate --to=3')
  expect(commandLine(['echo', '$HOME', "it's", ''])).toBe(`echo '$HOME' 'it'\\''s' ''`)
})

test('a shell gives the words back as they were, whatever they hold', async () => {
  const words = [
    'a b',
    '',
    "'",
    '"',
    '\\',
    '$(id)',
    '`id`',
    '*',
    '~',
    '#',
    '!',
    ';',
    '&',
    '|',
    '<',
    '>',
    '\n',
    '\t',
    'é',
    '-n',
    '--',
    '{a,b}',
    'x=1',
  ]
  const argv = ['/bin/sh', '-c', commandLine(['printf', '[%s]', ...words])]
  const { stdout } = await runProcess(argv, { env: { PATH: '/usr/bin:/bin' }, cwd: '/' })
  expect(stdout).toBe(words.map((word) => `[${word}]`).join(''))
})
