/** The smallest app of each framework as its makers' own starters lay it out, in versions that run on Node.js 20 and later. */
export interface FrameworkApp {
  name: string
  type: 'web_service' | 'static_site'
  /** A folder of the workspace, where the app is a member of one. */
  rootDir?: string
  /** Text of each file by its path. */
  files: Record<string, string>
  /** What its page holds in the source that is sent. */
  shows: string
}

const json = (value: unknown): string => JSON.stringify(value, null, 2)

const packageOf = (dependencies: readonly string[], scripts: Record<string, string> = {}, more: object = {}): string =>
  json({
    name: 'app',
    private: true,
    type: 'module',
    scripts,
    dependencies: Object.fromEntries(dependencies.map(versioned)),
    ...more,
  })

/** `name` or `name@range`; a scope begins with an @ too. */
function versioned(dependency: string): [string, string] {
  const at = dependency.indexOf('@', 1)
  return at === -1 ? [dependency, 'latest'] : [dependency.slice(0, at), dependency.slice(at + 1)]
}

const nextPages = {
  'app/layout.jsx': 'export default ({ children }) => <html lang="en"><body>{children}</body></html>\n',
  'app/page.jsx': "export default () => <h1>{'Hello from ' + 'Next.js'}</h1>\n",
  'public/robots.txt': 'User-agent: *\n',
}
const next = ['next@15', 'react@19', 'react-dom@19']
const nextScripts = { dev: 'next dev', build: 'next build', start: 'next start' }

const svelte = (adapter: string, major: number, more: Record<string, string> = {}): Record<string, string> => ({
  'package.json': packageOf(['@sveltejs/kit@2', `${adapter}@${major}`, 'svelte@5', '@sveltejs/vite-plugin-svelte@5', 'vite@6'], {
    dev: 'vite dev',
    build: 'vite build',
    preview: 'vite preview',
  }),
  'svelte.config.js': `import adapter from '${adapter}'\nexport default { kit: { adapter: adapter() } }\n`,
  'vite.config.js': "import { sveltekit } from '@sveltejs/kit/vite'\nexport default { plugins: [sveltekit()] }\n",
  'src/app.html': '<html lang="en"><head>%sveltekit.head%</head><body><div>%sveltekit.body%</div></body></html>\n',
  'src/routes/+page.svelte': "<h1>{'Hello from ' + 'SvelteKit'}</h1>\n",
  ...more,
})

const astroPage = {
  'src/pages/index.astro': '---\nconst from = \'Astro\'\n---\n<html lang="en"><body><h1>Hello from {from}</h1></body></html>\n',
}
const astroScripts = { dev: 'astro dev', build: 'astro build', preview: 'astro preview' }

const vitePage = {
  'index.html':
    '<html lang="en"><body><h1>Hello from Vite</h1><div id="app"></div><script type="module" src="/src/main.js"></script></body></html>\n',
  'src/main.js': "document.querySelector('#app').textContent = 'and its script'\n",
}

const member = {
  'packages/words/package.json': json({
    name: 'words',
    version: '1.0.0',
    type: 'module',
    main: 'dist/index.js',
    scripts: { build: 'node build.js' },
  }),
}
const memberBuild =
  "import { mkdirSync, writeFileSync } from 'node:fs'\nmkdirSync('dist', { recursive: true })\nwriteFileSync('dist/index.js', \"export const words = 'Hello from a workspace'\\n\")\n"

export const frameworkApps: readonly FrameworkApp[] = [
  { name: 'next', type: 'web_service', files: { 'package.json': packageOf(next, nextScripts), ...nextPages }, shows: 'Hello from Next.js' },
  {
    name: 'next-standalone',
    type: 'web_service',
    files: { 'package.json': packageOf(next, nextScripts), 'next.config.js': "export default { output: 'standalone' }\n", ...nextPages },
    shows: 'Hello from Next.js',
  },
  {
    name: 'next-export',
    type: 'static_site',
    files: { 'package.json': packageOf(next, nextScripts), 'next.config.js': "export default { output: 'export' }\n", ...nextPages },
    shows: 'Hello from Next.js',
  },
  {
    name: 'nuxt',
    type: 'web_service',
    files: {
      'package.json': packageOf(['nuxt@3.17', 'vue@3', 'vue-router@4'], { dev: 'nuxt dev', build: 'nuxt build', preview: 'nuxt preview' }),
      'nuxt.config.ts': 'export default defineNuxtConfig({})\n',
      'app.vue': "<template><h1>{{ 'Hello from ' + 'Nuxt' }}</h1></template>\n",
    },
    shows: 'Hello from Nuxt',
  },
  { name: 'svelte-node', type: 'web_service', files: svelte('@sveltejs/adapter-node', 5), shows: 'Hello from SvelteKit' },
  {
    name: 'svelte-static',
    type: 'static_site',
    files: svelte('@sveltejs/adapter-static', 3, { 'src/routes/+layout.js': 'export const prerender = true\n' }),
    shows: 'Hello from SvelteKit',
  },
  {
    name: 'astro',
    type: 'static_site',
    files: { 'package.json': packageOf(['astro@5'], astroScripts), ...astroPage },
    shows: 'Hello from Astro',
  },
  {
    name: 'astro-node',
    type: 'web_service',
    files: {
      'package.json': packageOf(['astro@5', '@astrojs/node@9'], astroScripts),
      'astro.config.mjs':
        "import { defineConfig } from 'astro/config'\nimport node from '@astrojs/node'\nexport default defineConfig({ output: 'server', adapter: node({ mode: 'standalone' }) })\n",
      ...astroPage,
    },
    shows: 'Hello from Astro',
  },
  {
    name: 'react-router',
    type: 'web_service',
    files: {
      'package.json': packageOf([
        'react-router@7.9',
        '@react-router/node@7.9',
        '@react-router/serve@7.9',
        '@react-router/dev@7.9',
        'react@19',
        'react-dom@19',
        'isbot@5',
        'vite@6',
      ]),
      'vite.config.js': "import { reactRouter } from '@react-router/dev/vite'\nexport default { plugins: [reactRouter()] }\n",
      'app/root.jsx':
        'import { Outlet, Scripts } from \'react-router\'\nexport default function App() { return <html lang="en"><body><Outlet /><Scripts /></body></html> }\n',
      'app/routes.js': "import { index } from '@react-router/dev/routes'\nexport default [index('home.jsx')]\n",
      'app/home.jsx': "export default function Home() { return <h1>{'Hello from ' + 'React Router'}</h1> }\n",
    },
    shows: 'Hello from React Router',
  },
  {
    name: 'vite',
    type: 'static_site',
    files: { 'package.json': packageOf(['vite@6'], { dev: 'vite', build: 'vite build', preview: 'vite preview' }), ...vitePage },
    shows: 'Hello from Vite',
  },
  {
    name: 'eleventy',
    type: 'static_site',
    files: {
      'package.json': packageOf(['@11ty/eleventy@3'], { start: 'eleventy --serve' }),
      'index.md': '# Hello from {{ "Eleventy" }}\n',
    },
    shows: 'Hello from Eleventy',
  },
  {
    name: 'nest',
    type: 'web_service',
    files: {
      'package.json': packageOf(
        [
          '@nestjs/common@11',
          '@nestjs/core@11',
          '@nestjs/platform-express@11',
          '@nestjs/cli@11',
          '@types/node@22',
          'reflect-metadata@0.2',
          'rxjs@7',
          'typescript@5',
        ],
        { build: 'nest build', start: 'nest start', 'start:prod': 'node dist/main' },
        { type: 'commonjs' },
      ),
      'nest-cli.json': json({ sourceRoot: 'src' }),
      'tsconfig.json': json({
        compilerOptions: {
          module: 'commonjs',
          target: 'es2022',
          outDir: 'dist',
          rootDir: 'src',
          experimentalDecorators: true,
          emitDecoratorMetadata: true,
          skipLibCheck: true,
        },
      }),
      'src/main.ts': `import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
@Controller()
class Home { @Get() home() { return 'Hello from NestJS' } }
@Module({ controllers: [Home] })
class App {}
NestFactory.create(App).then((app) => app.listen(process.env.PORT ?? 3000))
`,
    },
    shows: 'Hello from NestJS',
  },
  {
    name: 'turbo',
    type: 'web_service',
    rootDir: 'apps/web',
    files: {
      'package.json': json({
        name: 'all',
        private: true,
        workspaces: ['apps/*', 'packages/*'],
        packageManager: 'npm@10.8.2',
        devDependencies: { turbo: 'latest' },
      }),
      'turbo.json': json({ tasks: { build: { dependsOn: ['^build'], outputs: ['dist/**'] } } }),
      ...member,
      'packages/words/build.js': memberBuild,
      'apps/web/package.json': json({
        name: 'web',
        private: true,
        type: 'module',
        scripts: { build: 'node -e "import(\'words\')"', start: 'node server.js' },
        dependencies: { words: '*' },
      }),
      'apps/web/server.js':
        "import { createServer } from 'node:http'\nimport { words } from 'words'\ncreateServer((_, answer) => answer.end('<h1>' + words + '</h1>')).listen(process.env.PORT)\n",
    },
    shows: 'Hello from a workspace',
  },
]
