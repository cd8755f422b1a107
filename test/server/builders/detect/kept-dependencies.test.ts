import { expect, test } from 'vitest'
import { detectBuild } from '../../../../server/builders/detect/detect.ts'
import { everyTool, sourceOf } from './source.ts'

const json = JSON.stringify
const pkg = { dependencies: { express: '5' }, scripts: { start: 'node .' } }

function planOf(files: Record<string, string>, buildCommand?: string) {
  const source = sourceOf({ 'package.json': json(pkg), ...files })
  return detectBuild({
    files: source,
    settings: { type: 'web_service', ...(buildCommand !== undefined && { buildCommand }) },
    toolchains: everyTool,
  })
}

const inputsOf = (files: Record<string, string>, buildCommand?: string) => planOf(files, buildCommand).steps[0]?.inputs

test.each<[what: string, files: Record<string, string>, inputs: string[] | undefined]>([
  ['npm', { 'package-lock.json': '{}', '.npmrc': 'x=y' }, ['package-lock.json', 'package.json', '.npmrc']],
  ['pnpm', { 'pnpm-lock.yaml': 'lockfileVersion: 9', '.pnpmfile.cjs': '' }, ['pnpm-lock.yaml', 'package.json', '.pnpmfile.cjs']],
  ['yarn', { 'yarn.lock': '# yarn lockfile v1' }, ['yarn.lock', 'package.json']],
  ['Bun', { 'bun.lock': '{}', 'bunfig.toml': '' }, ['bun.lock', 'package.json', 'bunfig.toml']],
  ['a newer yarn, which keeps more than node_modules', { 'yarn.lock': '__metadata:' }, undefined],
  ['no lock file', {}, undefined],
  [
    'a workspace, whose members count',
    { 'package-lock.json': '{}', 'package.json': json({ ...pkg, workspaces: ['a'] }), 'a/package.json': '{}' },
    ['package-lock.json', 'package.json', 'a/package.json'],
  ],
])('%s', (_, files, inputs) => {
  expect(inputsOf(files)).toEqual(inputs)
})

test('a build command of the service is run as it is', () => {
  expect(inputsOf({ 'package-lock.json': '{}' }, 'npm ci && make')).toBeUndefined()
})

test.each<[why: string, files: Record<string, string>]>([
  ['the script postinstall', { 'package.json': json({ ...pkg, scripts: { start: 'x', postinstall: 'x' } }) }],
  ['the script prepare', { 'package.json': json({ ...pkg, scripts: { start: 'x', prepare: 'x' } }) }],
  ['binding.gyp', { 'binding.gyp': '' }],
  ['@prisma/client', { 'package.json': json({ ...pkg, dependencies: { '@prisma/client': '6' } }) }],
  ['within the source', { 'package.json': json({ ...pkg, dependencies: { own: 'file:./own' } }) }],
  ['patched', { 'package.json': json({ ...pkg, pnpm: { patchedDependencies: { x: 'x.patch' } } }) }],
])('%s has them installed anew, and is told', (why, files) => {
  const { steps, notes } = planOf({ 'package-lock.json': '{}', ...files })
  expect(steps[0]).toEqual({ name: 'install', command: 'npm ci' })
  expect(notes.find((note) => note.startsWith('They are installed anew in each build: '))).toContain(why)
})
