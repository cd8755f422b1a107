import { describe, expect, test } from 'vitest'
import { detectBuild } from '../../../../server/builders/detect/detect.ts'
import type { BuildPlan } from '../../../../server/builders/detect/plan.ts'
import { viewOf } from '../../../../server/builders/detect/source-view.ts'
import { placeInWorkspace } from '../../../../server/builders/detect/workspace.ts'
import { commandIn } from '../../../../server/builders/launch.ts'
import type { BuildSettings } from '../../../../server/builders/port.ts'
import { everyTool, onlyOurselves, sourceOf } from './source.ts'

const json = JSON.stringify
const npmRoot = json({ private: true, workspaces: ['apps/*', 'packages/**'] })
const app = json({ dependencies: { ui: '*' }, scripts: { build: 'vite build', start: 'node server.js' } })

const place = (files: Record<string, string>, path = 'apps/web') =>
  placeInWorkspace(sourceOf({ [`${path}/package.json`]: app, ...files }), path)

describe('an app is a member of', () => {
  test.each<[what: string, files: Record<string, string>]>([
    ['npm and Bun', { 'package.json': npmRoot }],
    ['Yarn, with settings beside', { 'package.json': json({ workspaces: { packages: ['apps/*'], nohoist: ['x'] } }) }],
    ['a path', { 'package.json': json({ workspaces: ['./apps/web/'] }) }],
    [
      'pnpm',
      {
        'package.json': '{}',
        'pnpm-workspace.yaml': '# ours\npackages:\n  # apps\n  - \'apps/*\' # all\n\n  - "packages/*"\ncatalog:\n  x: 1\n',
      },
    ],
    ['pnpm in one line', { 'pnpm-workspace.yaml': "packages: ['packages/*', apps/**]\n" }],
  ])('a workspace of %s', (_, files) => {
    expect(place(files)).toEqual({ rootDir: '', appDir: 'apps/web' })
  })

  test('the nearest workspace, at any depth', () => {
    const files = { 'package.json': npmRoot, 'apps/package.json': json({ workspaces: ['w*b'] }) }
    expect(place(files)).toEqual({ rootDir: 'apps', appDir: 'web' })
    expect(place({ 'package.json': npmRoot }, 'packages/a/b/c')).toEqual({ rootDir: '', appDir: 'packages/a/b/c' })
  })

  test.each<[why: string, files: Record<string, string>]>([
    ['there is no workspace', { 'package.json': '{}' }],
    ['it is named by none', { 'package.json': json({ workspaces: ['packages/*', 'apps/*/x', 'apps/webs'] }) }],
    ['it is left out', { 'pnpm-workspace.yaml': "packages:\n  - 'apps/*'\n  - '!apps/web'\n" }],
    ['it has a lock file and the workspace none', { 'package.json': npmRoot, 'apps/web/yarn.lock': '' }],
  ])('nothing when %s', (_, files) => {
    expect(place(files)).toEqual({ rootDir: 'apps/web', appDir: '' })
  })

  test('nothing when it is no package, or all of the upload', () => {
    const files = { 'package.json': npmRoot, 'apps/api/main.py': '' }
    expect(placeInWorkspace(sourceOf(files), 'apps/api')).toEqual({ rootDir: 'apps/api', appDir: '' })
    expect(placeInWorkspace(sourceOf(files), '')).toEqual({ rootDir: '', appDir: '' })
  })

  test('nothing by a list that never ends, which is read in one pass', () => {
    const endless = `packages: ${'['.repeat(1_000_000)}\n`
    expect(place({ 'pnpm-workspace.yaml': endless })).toEqual({ rootDir: 'apps/web', appDir: '' })
  })

  test.each([`${'**/'.repeat(60)}a`, `${'*a'.repeat(60)}`])(
    'nothing by a pattern made to be slow, which is passed over (%#)',
    (pattern) => {
      expect(place({ 'package.json': json({ workspaces: [pattern, 'none'] }) }, 'a'.repeat(200)).appDir).toBe('')
      expect(place({ 'package.json': json({ workspaces: [pattern, '**/*a'] }) }, 'a'.repeat(200)).appDir).not.toBe('')
    },
  )
})

describe('a member', () => {
  const detect = (files: Record<string, string>, settings: Partial<BuildSettings> = {}, toolchains = everyTool): BuildPlan => {
    const root = sourceOf({ 'package.json': npmRoot, 'apps/web/package.json': app, ...files })
    return detectBuild({
      files: viewOf(root, 'apps/web'),
      workspace: { files: root, appDir: 'apps/web' },
      settings: { type: 'web_service', ...settings },
      toolchains,
    })
  }
  const steps = (plan: BuildPlan) => plan.steps.map(({ command, dir }) => [dir ?? '.', command])

  test.each([
    ['package-lock.json', '{}', 'npm ci --include=dev', 'npm run build'],
    [
      'pnpm-lock.yaml',
      "lockfileVersion: '9.0'\n",
      'npx --yes pnpm@10 install --frozen-lockfile --prod=false',
      'npx --yes pnpm@10 run build',
    ],
    ['yarn.lock', '# yarn lockfile v1\n', 'npx --yes yarn@1 install --frozen-lockfile --production=false', 'npx --yes yarn@1 run build'],
    ['yarn.lock', '__metadata:\n', 'npx --yes @yarnpkg/cli-dist@4 install --immutable', 'npx --yes @yarnpkg/cli-dist@4 run build'],
    ['bun.lock', '{}', 'bun install --frozen-lockfile --backend=copyfile', 'bun run build'],
  ])('is installed at the root by its %s, and built in its own folder', (lock, content, install, build) => {
    const plan = detect({ [lock]: content })
    expect(steps(plan)).toContainEqual(['.', install])
    expect(steps(plan).at(-1)).toEqual(['apps/web', build])
    expect(plan).toMatchObject({ appDir: 'apps/web', startCommand: 'node server.js' })
    expect(plan.pathEntries.slice(0, 2)).toEqual(['apps/web/node_modules/.bin', 'node_modules/.bin'])
  })

  test('goes by the packageManager of the root', () => {
    const pinned = { 'package.json': json({ workspaces: ['apps/*'], packageManager: 'pnpm@9.1.0' }) }
    expect(steps(detect({ ...pinned, 'pnpm-lock.yaml': '' }))[0]).toEqual([
      '.',
      'npx --yes pnpm@9.1.0 install --frozen-lockfile --prod=false',
    ])
    expect(steps(detect(pinned, { startCommand: 'bun .' }, onlyOurselves))[0]).toEqual(['.', 'bun install --backend=copyfile'])
  })

  test('runs the commands of its owner in its own folder', () => {
    expect(steps(detect({}, { buildCommand: 'make' }))).toEqual([['apps/web', 'make']])
    expect(commandIn('apps/my web', 'node .')).toBe("cd -- 'apps/my web' || exit\nnode .")
    expect(commandIn(undefined, 'node .')).toBe('node .')
  })

  test('that is a site is published from its own folder', () => {
    expect(detect({}, { type: 'static_site' }).publishPaths).toEqual(
      ['dist', 'build', 'out', '_site', 'public'].map((dir) => `apps/web/${dir}`),
    )
    expect(detect({}, { type: 'static_site', publishPath: './site' }).publishPaths).toEqual(['apps/web/site'])
  })
})

test('the root of a workspace is installed though it has no dependencies of its own', () => {
  const files = { 'package.json': json({ scripts: { start: 'node .' } }), 'pnpm-lock.yaml': '', 'pnpm-workspace.yaml': 'packages:\n- a\n' }
  const plan = detectBuild({ files: sourceOf(files), settings: { type: 'web_service' }, toolchains: everyTool })
  expect(plan.steps.map(({ command }) => command)).toEqual(['npx --yes pnpm@10 install --frozen-lockfile'])
  expect(plan.notes).toContain('Packages come from pnpm (pnpm-lock.yaml).')
})
