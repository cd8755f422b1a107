import { describe, expect, test } from 'vitest'
import { detectBuild } from '../../../../server/builders/detect/detect.ts'
import type { BuildPlan } from '../../../../server/builders/detect/plan.ts'
import { viewOf } from '../../../../server/builders/detect/source-view.ts'
import type { BuildSettings } from '../../../../server/builders/port.ts'
import { everyTool, sourceOf } from './source.ts'

const json = JSON.stringify

interface App {
  packages: readonly string[]
  scripts?: Record<string, string>
  files?: Record<string, string>
}

function detect({ packages, scripts = {}, files = {} }: App, settings: Partial<BuildSettings> = {}): BuildPlan {
  const manifest = { name: 'web', dependencies: Object.fromEntries(packages.map((name) => [name, '*'])), scripts }
  return detectBuild({
    files: sourceOf({ 'package.json': json(manifest), ...files }),
    settings: { type: 'web_service', ...settings },
    toolchains: everyTool,
  })
}

const commands = ({ steps }: BuildPlan) => steps.map(({ command }) => command)
const asSite = (app: App) => detect(app, { type: 'static_site' })

const servers: [title: string, app: App, start: string, env: Record<string, string>][] = [
  ['Next.js', { packages: ['next'], scripts: { build: 'next build', start: 'next start' } }, 'next start', {}],
  ['Next.js', { packages: ['next'], scripts: { start: 'next dev' } }, 'next start', {}],
  [
    'Next.js',
    { packages: ['next'], scripts: { start: 'next start' }, files: { 'next.config.mjs': "export default { output: 'standalone' }" } },
    'node .next/standalone/server.js',
    { HOSTNAME: '0.0.0.0' },
  ],
  ['Nuxt', { packages: ['nuxt'], scripts: { build: 'nuxt build' } }, 'node .output/server/index.mjs', { HOST: '0.0.0.0' }],
  [
    'SvelteKit',
    { packages: ['@sveltejs/kit', '@sveltejs/adapter-node', 'vite'] },
    'node build',
    { HOST: '0.0.0.0', PROTOCOL_HEADER: 'x-forwarded-proto', HOST_HEADER: 'x-forwarded-host' },
  ],
  ['Remix', { packages: ['@remix-run/dev', 'vite'] }, 'remix-serve ./build/server/index.js', {}],
  ['React Router', { packages: ['@react-router/dev', 'vite'] }, 'react-router-serve ./build/server/index.js', {}],
  ['Astro', { packages: ['astro', '@astrojs/node'], scripts: { start: 'astro dev' } }, 'node ./dist/server/entry.mjs', { HOST: '0.0.0.0' }],
  ['Strapi', { packages: ['@strapi/strapi'], scripts: { start: 'strapi start' } }, 'strapi start', { HOST: '0.0.0.0' }],
  ['NestJS', { packages: ['@nestjs/core'], scripts: { start: 'nest start', 'start:prod': 'node dist/main' } }, 'node dist/main', {}],
  ['NestJS', { packages: ['@nestjs/core'], scripts: { start: 'nest start' } }, 'node dist/main.js', {}],
  [
    'Angular',
    {
      packages: ['@angular/core', '@angular/ssr'],
      scripts: { start: 'ng serve' },
      files: { 'angular.json': json({ projects: { shop: {} } }) },
    },
    'node dist/shop/server/server.mjs',
    {},
  ],
]

test.each(servers)('%s: %j is started with "%s"', (title, app, start, env) => {
  const plan = detect(app)
  expect(plan.startCommand).toBe(start)
  expect(plan.runtimeEnv).toEqual({ NODE_ENV: 'production', ...env })
  expect(plan.notes[0]).toMatch(new RegExp(`^Framework: ${title.replace('.', '\\.')} \\(.* in package\\.json\\), which gives a program`))
  expect(() => asSite(app)).toThrow(`${title} builds a program that answers requests here, and no site: create it as a web_service`)
})

const sites: [title: string, app: App, publish: string][] = [
  ['Next.js', { packages: ['next'], files: { 'next.config.ts': "// output: 'standalone'\nexport default { output: 'export' }" } }, 'out'],
  ['Nuxt', { packages: ['nuxt'], scripts: { build: 'nuxt generate' } }, '.output/public'],
  ['SvelteKit', { packages: ['@sveltejs/kit', '@sveltejs/adapter-static', 'vite'] }, 'build'],
  [
    'React Router',
    { packages: ['@react-router/dev'], files: { 'react-router.config.ts': 'export default { ssr: false }' } },
    'build/client',
  ],
  ['Astro', { packages: ['astro'], scripts: { start: 'astro dev' } }, 'dist'],
  ['Gatsby', { packages: ['gatsby'], scripts: { start: 'gatsby develop' } }, 'public'],
  ['Docusaurus', { packages: ['@docusaurus/core'], scripts: { start: 'docusaurus start' } }, 'build'],
  ['Eleventy', { packages: ['@11ty/eleventy'], scripts: { start: 'npx @11ty/eleventy --serve' } }, '_site'],
  ['Angular', { packages: ['@angular/core'], files: { 'angular.json': json({ projects: { shop: {} } }) } }, 'dist/shop/browser'],
  ['Create React App', { packages: ['react-scripts'], files: { 'src/index.js': '' } }, 'build'],
  ['Vite', { packages: ['vite'], scripts: { start: 'vite' }, files: { 'index.html': '', 'src/main.ts': '' } }, 'dist'],
]

test.each(sites)('%s: %j publishes a site, and is nothing that a web service could start', (title, app, publish) => {
  expect(asSite(app).publishPaths[0]).toBe(publish)
  expect(() => detect(app)).toThrow(`${title} builds a static site here, and nothing in it answers requests: create it as a static_site`)
})

describe('a framework', () => {
  test('is built by its own command where package.json has no script for that', () => {
    expect(commands(detect({ packages: ['next'] }))).toEqual(['npm install', 'next build'])
    expect(commands(asSite({ packages: ['@11ty/eleventy'] }))).toEqual(['npm install', 'eleventy'])
    expect(commands(detect({ packages: ['next'], scripts: { build: 'make' } }))).toEqual(['npm install --include=dev', 'npm run build'])
  })

  test('does nothing against what its owner has chosen', () => {
    const plan = detect({ packages: ['astro'] }, { buildCommand: 'make', startCommand: 'node serve.js' })
    expect([commands(plan), plan.startCommand]).toEqual([['make'], 'node serve.js'])
    expect(detect({ packages: ['astro'], scripts: { start: 'node serve.js' } }).startCommand).toBe('node serve.js')
    for (const start of ['vite preview --host', 'vite preview'])
      expect(detect({ packages: ['vite'], scripts: { build: 'vite build', start } }).startCommand).toBe(start)
    expect(detect({ packages: ['next'] }, { type: 'static_site', publishPath: 'pages' }).publishPaths).toEqual(['pages'])
  })

  test('that is built beside a program leaves that to be started', () => {
    expect(detect({ packages: ['vite', 'express'], files: { 'server.js': '' } }).startCommand).toBe('node ./server.js')
  })

  test('without an adapter says which to install', () => {
    const app = { packages: ['@sveltejs/kit', '@sveltejs/adapter-auto'] }
    expect(() => detect(app)).toThrow('install @sveltejs/adapter-node')
    expect(() => asSite(app)).toThrow('@sveltejs/adapter-static')
  })

  test('whose configuration is no text of ours is taken for the usual', () => {
    const files = { 'angular.json': 'not JSON' }
    expect(asSite({ packages: ['@angular/core'], files }).publishPaths[0]).toBe('dist')
    expect(asSite({ packages: ['@angular/core'], files: { 'angular.json': json({ projects: { 'a b': {} } }) } }).publishPaths[0]).toBe(
      'dist',
    )
  })
})

describe('a standalone build of Next.js', () => {
  const config = "module.exports = { output: 'standalone' }"

  test('gets the files beside its server, which Next.js leaves out', () => {
    const plan = detect({ packages: ['next'], files: { 'next.config.js': config } })
    expect(plan.steps.at(-1)).toEqual({
      name: 'make ready',
      command: 'cp -R .next/static .next/standalone/.next/ && if [ -d public ]; then cp -R public .next/standalone/; fi',
    })
  })

  test('stands as deep as its app in a workspace', () => {
    const plan = detectMember({ 'apps/web/next.config.js': config }, {})
    expect(plan.startCommand).toBe('node .next/standalone/apps/web/server.js')
    expect(plan.steps.at(-1)).toMatchObject({ dir: 'apps/web', command: expect.stringContaining('.next/standalone/apps/web/.next/') })
  })
})

function detectMember(files: Record<string, string>, root: Record<string, unknown>): BuildPlan {
  const app = { name: '@shop/web', dependencies: { next: '*' }, scripts: { build: 'next build' } }
  const source = sourceOf({
    'package.json': json({ workspaces: ['apps/*'], ...root }),
    'apps/web/package.json': json(app),
    ...files,
  })
  return detectBuild({
    files: viewOf(source, 'apps/web'),
    workspace: { files: source, appDir: 'apps/web' },
    settings: { type: 'web_service' },
    toolchains: everyTool,
  })
}

describe('a member of a workspace is built', () => {
  test('by Turborepo, with the members that it needs', () => {
    const plan = detectMember({ 'turbo.json': '{}' }, { devDependencies: { turbo: '2' } })
    expect(plan.steps[1]).toEqual({ name: 'build', command: 'turbo run build --filter @shop/web --env-mode=loose' })
    expect(plan.notes).toContain('Turborepo builds it, with the members of the workspace that it needs.')
  })

  test('by Nx, without its daemon', () => {
    const plan = detectMember({ 'nx.json': '{}' }, { devDependencies: { nx: '20' } })
    expect(plan.steps[1]).toEqual({ name: 'build', command: 'nx run @shop/web:build' })
    expect(plan.buildEnv).toMatchObject({ NX_DAEMON: 'false' })
  })

  test('by its own script where the workspace has neither', () => {
    expect(detectMember({ 'turbo.json': '{}' }, {}).steps[1]).toEqual({ name: 'build', command: 'npm run build', dir: 'apps/web' })
  })
})
