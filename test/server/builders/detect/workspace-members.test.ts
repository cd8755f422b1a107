import { describe, expect, test } from 'vitest'
import { detectBuild } from '../../../../server/builders/detect/detect.ts'
import { readPackageJson } from '../../../../server/builders/detect/package-json.ts'
import type { BuildPlan } from '../../../../server/builders/detect/plan.ts'
import { viewOf } from '../../../../server/builders/detect/source-view.ts'
import { membersOf, neededBy } from '../../../../server/builders/detect/workspace-members.ts'
import { everyTool, sourceOf } from './source.ts'

const json = JSON.stringify
const member = (name: string, needs: string[] = [], more: object = { scripts: { build: 'tsc' } }) =>
  json({ name, dependencies: Object.fromEntries(needs.map((one) => [one, '*'])), ...more })

/** web needs ui and core, ui needs core, and other needs nobody. */
const files = {
  'package.json': json({ private: true, workspaces: ['apps/*', 'packages/**', '!packages/old'] }),
  'apps/web/package.json': member('web', ['ui', 'core', 'express'], { scripts: { build: 'vite build', start: 'node server.js' } }),
  'apps/other/package.json': member('other', ['web']),
  'packages/ui/package.json': member('ui', ['core', 'react']),
  'packages/deep/core/package.json': member('core', ['plain', 'core']),
  'packages/plain/package.json': member('plain', ['ui'], {}),
  'packages/old/package.json': member('old'),
  'packages/ui/node_modules/react/package.json': member('react'),
  'packages/.cache/x/package.json': member('x'),
}

const planOf = (changes: Record<string, string> = {}): BuildPlan => {
  const root = sourceOf({ ...files, ...changes })
  return detectBuild({
    files: viewOf(root, 'apps/web'),
    workspace: { files: root, appDir: 'apps/web' },
    settings: { type: 'web_service' },
    toolchains: everyTool,
  })
}
const commands = (...given: Parameters<typeof planOf>) => planOf(...given).steps.map(({ command, dir }) => [dir ?? '.', command])

describe('the members of a workspace', () => {
  test('are found by its patterns, and no package that was installed', () => {
    const dirs = membersOf(sourceOf(files)).map(({ dir }) => dir)
    expect(dirs.sort()).toEqual(['apps/other', 'apps/web', 'packages/deep/core', 'packages/plain', 'packages/ui'])
  })

  test('that an app needs come each after those that it needs itself, circles or not', () => {
    const root = sourceOf(files)
    const web = readPackageJson(viewOf(root, 'apps/web'))
    expect(web && neededBy(web, membersOf(root)).map(({ dir }) => dir)).toEqual(['packages/plain', 'packages/deep/core', 'packages/ui'])
  })

  test('may be named one by one', () => {
    const dirs = Array.from({ length: 120 }, (_, n) => `packages/${n}`)
    const root = sourceOf({
      ...Object.fromEntries(dirs.map((dir) => [`${dir}/package.json`, '{}'])),
      'package.json': json({ workspaces: dirs }),
    })
    expect(membersOf(root)).toHaveLength(120)
  })

  test('are refused beyond two hundred names of them', () => {
    const workspaces = Array.from({ length: 201 }, (_, n) => `packages/${n}`)
    expect(() => membersOf(sourceOf({ 'package.json': json({ workspaces }) }))).toThrow('names 201 patterns, of which 200 are looked at')
  })

  test('are not looked for without end', () => {
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`packages/${'x'.repeat(200)}${n}/package.json`, '{}']))
    const patterns = Array.from({ length: 200 }, () => `packages/${'*x'.repeat(4)}y`)
    const begun = performance.now()
    expect(membersOf(sourceOf({ ...many, 'package.json': json({ workspaces: patterns }) }))).toEqual([])
    expect(performance.now() - begun).toBeLessThan(3000)
  })
})

describe('an app of a workspace is installed with what it needs and nothing else, and that is built before it', () => {
  test('by npm', () => {
    expect(commands({ 'package-lock.json': '{}' })).toEqual([
      ['.', 'npm ci --workspace apps/web --include-workspace-root --include=dev'],
      ['.', 'npm run build --workspace packages/deep/core --workspace packages/ui'],
      ['apps/web', 'npm run build'],
    ])
  })

  test('by pnpm', () => {
    const pnpm = { 'pnpm-lock.yaml': "lockfileVersion: '9.0'", 'pnpm-workspace.yaml': "packages: ['apps/*', 'packages/**']" }
    expect(commands(pnpm)).toEqual([
      ['.', "npx --yes pnpm@10 install --frozen-lockfile --prod=false --filter web... --filter '{.}'"],
      ['.', "npx --yes pnpm@10 --filter 'web^...' run build"],
      ['apps/web', 'npx --yes pnpm@10 run build'],
    ])
  })

  test('by others that is built in the folder of each, and all is installed', () => {
    expect(commands({ 'yarn.lock': '# yarn lockfile v1' })).toEqual([
      ['.', 'npx --yes yarn@1 install --frozen-lockfile --production=false'],
      ['packages/deep/core', 'npx --yes yarn@1 run build'],
      ['packages/ui', 'npx --yes yarn@1 run build'],
      ['apps/web', 'npx --yes yarn@1 run build'],
    ])
  })

  test('but for Turborepo and Nx, which know themselves what is needed', () => {
    const turbo = { 'package.json': json({ workspaces: ['apps/*', 'packages/**'], devDependencies: { turbo: '2' } }), 'turbo.json': '{}' }
    expect(commands({ ...turbo, 'package-lock.json': '{}' })).toEqual([
      ['.', 'npm ci --include=dev'],
      ['.', 'turbo run build --filter web --env-mode=loose'],
    ])
  })
})

describe('the dependencies of a workspace are kept', () => {
  const inputs = (changes: Record<string, string>) => planOf({ 'package-lock.json': '{}', ...changes }).steps[0]?.inputs

  test('by the manifests of what is installed', () => {
    expect(inputs({})).toEqual([
      ...['package-lock.json', 'package.json', 'apps/web/package.json'],
      ...['packages/plain/package.json', 'packages/deep/core/package.json', 'packages/ui/package.json'],
    ])
  })

  test('unless one of those has a script of its own, and no other', () => {
    const prepared = member('ui', ['core'], { scripts: { prepare: 'tsc' } })
    expect(inputs({ 'packages/ui/package.json': prepared })).toBeUndefined()
    expect(planOf({ 'package-lock.json': '{}', 'packages/ui/package.json': prepared }).notes).toContain(
      'They are installed anew in each build: packages/ui/package.json has the script prepare, which may read all of the source.',
    )
    expect(inputs({ 'apps/other/package.json': member('other', [], { scripts: { prepare: 'tsc' } }) })).toBeDefined()
  })
})
