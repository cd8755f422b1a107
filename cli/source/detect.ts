import { readFile } from 'node:fs/promises'
import type { ServiceType } from '../../shared/service-type.ts'
import type { SourceFile } from './files.ts'

/** Files that say a program is built or run here; the server finds out which. */
const programs: ReadonlySet<string> = new Set([
  'requirements.txt',
  'pyproject.toml',
  'Pipfile',
  'go.mod',
  'Cargo.toml',
  'Gemfile',
  'mix.exs',
  'Procfile',
  'Dockerfile',
  'composer.json',
  'index.php',
  'deno.json',
  'pom.xml',
])

const generators: ReadonlySet<string> = new Set([
  'vite',
  'astro',
  'react-scripts',
  '@vue/cli-service',
  '@11ty/eleventy',
  'gatsby',
  'parcel',
  '@docusaurus/core',
  'vitepress',
  'hexo',
])

/** Packages that answer requests themselves, also in projects that are built with one of the generators. */
const servers: ReadonlySet<string> = new Set([
  'express',
  'fastify',
  'koa',
  'hono',
  'elysia',
  'polka',
  'h3',
  'nitropack',
  '@hapi/hapi',
  '@nestjs/core',
  'next',
  'nuxt',
  '@remix-run/node',
  '@remix-run/serve',
  '@react-router/serve',
  '@react-router/node',
  '@solidjs/start',
  '@tanstack/react-start',
  '@astrojs/node',
  'socket.io',
  'ws',
])

/** What a generator serves for the one who writes the pages. */
const DEVELOPMENT = /^(npx )?(vite|astro|react-scripts|vue-cli-service|eleventy|gatsby|parcel|docusaurus|vitepress|hexo)\b/

export interface PackageJson {
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

/** What a new service for this source should be unless the user says. */
export async function detectType(files: readonly SourceFile[], rootDir = ''): Promise<ServiceType> {
  const prefix = rootDir === '' ? '' : `${rootDir.replace(/\/+$/, '')}/`
  const below = new Map(files.filter(({ path }) => path.startsWith(prefix)).map((file) => [file.path.slice(prefix.length), file]))
  return typeOf(new Set(below.keys()), await packageJsonIn(below.get('package.json')))
}

/** A static site when there are pages and no program, or a package.json that only makes pages. */
export function typeOf(names: ReadonlySet<string>, packageJson: PackageJson | undefined): ServiceType {
  if ([...programs].some((name) => names.has(name))) return 'web_service'
  const isSite = packageJson === undefined ? names.has('index.html') && !names.has('package.json') : makesPagesOnly(packageJson)
  return isSite ? 'static_site' : 'web_service'
}

function makesPagesOnly({ scripts = {}, dependencies = {}, devDependencies = {} }: PackageJson): boolean {
  const packages = [...Object.keys(dependencies), ...Object.keys(devDependencies)]
  const isSvelteSite = '@sveltejs/adapter-static' in { ...dependencies, ...devDependencies }
  if (scripts.build === undefined || packages.some((name) => servers.has(name))) return false
  if (packages.includes('@sveltejs/kit')) return isSvelteSite
  if (scripts.start !== undefined && !DEVELOPMENT.test(scripts.start)) return false
  return packages.some((name) => generators.has(name))
}

async function packageJsonIn(file: SourceFile | undefined): Promise<PackageJson | undefined> {
  if (file?.kind !== 'file') return undefined
  try {
    const value: unknown = JSON.parse(await readFile(file.absolutePath, 'utf8'))
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    // Whatever builds it says what is wrong with it.
    return undefined
  }
}
