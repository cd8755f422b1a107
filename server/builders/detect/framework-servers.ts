import { shellWord } from '../shell-word.ts'
import { ALL_ADDRESSES, configOf, dependsOn, type Framework, type FrameworkApp, giving, ONLY_DEV_VITE, type Outcome } from './framework.ts'

/** Frameworks whose apps answer requests, or may. */
export const serverFrameworks: readonly Framework[] = [
  {
    title: 'Next.js',
    packages: ['next'],
    build: 'next build',
    buildEnv: { NEXT_TELEMETRY_DISABLED: '1' },
    unfitStart: /^next dev\b/,
    outcome: nextOutcome,
  },
  {
    title: 'Nuxt',
    packages: ['nuxt', 'nuxt3'],
    build: 'nuxt build',
    buildEnv: { NUXT_TELEMETRY_DISABLED: '1' },
    unfitStart: /^nuxt dev\b/,
    outcome: ({ buildCommand }) =>
      /\bgenerate\b/.test(buildCommand)
        ? { gives: 'site', publish: ['.output/public', 'dist'] }
        : {
            gives: 'server',
            start: 'node .output/server/index.mjs',
            env: ALL_ADDRESSES,
            forSite: 'have the script "build" run "nuxt generate"',
          },
  },
  {
    title: 'SvelteKit',
    packages: ['@sveltejs/kit'],
    build: 'vite build',
    unfitStart: ONLY_DEV_VITE,
    outcome: svelteOutcome,
  },
  {
    title: 'Remix',
    packages: ['@remix-run/dev', '@remix-run/serve'],
    build: 'remix vite:build',
    unfitStart: /^remix (vite:)?dev\b/,
    outcome: giving({ gives: 'server', start: 'remix-serve ./build/server/index.js' }),
  },
  {
    title: 'React Router',
    packages: ['@react-router/dev'],
    build: 'react-router build',
    unfitStart: /^react-router dev\b/,
    outcome: (app) =>
      /\bssr\s*:\s*false\b/.test(configOf(app, 'react-router.config'))
        ? { gives: 'site', publish: ['build/client'] }
        : {
            gives: 'server',
            start: 'react-router-serve ./build/server/index.js',
            forSite: 'set ssr: false in react-router.config.ts',
          },
  },
  {
    title: 'Astro',
    packages: ['astro'],
    build: 'astro build',
    buildEnv: { ASTRO_TELEMETRY_DISABLED: '1' },
    unfitStart: /^astro(?! preview\b)/,
    outcome: (app) =>
      dependsOn(app, '@astrojs/node')
        ? {
            gives: 'server',
            start: 'node ./dist/server/entry.mjs',
            env: ALL_ADDRESSES,
            forSite: 'take the adapter @astrojs/node out of astro.config',
          }
        : { gives: 'site', publish: ['dist'] },
  },
  {
    title: 'Strapi',
    packages: ['@strapi/strapi'],
    build: 'strapi build',
    buildEnv: { STRAPI_TELEMETRY_DISABLED: 'true' },
    unfitStart: /^strapi dev/,
    outcome: giving({ gives: 'server', start: 'strapi start', env: ALL_ADDRESSES }),
  },
  {
    title: 'NestJS',
    packages: ['@nestjs/core'],
    build: 'nest build',
    unfitStart: /^nest start\b/,
    outcome: ({ pkg }) => ({ gives: 'server', start: pkg.scripts['start:prod'] ?? 'node dist/main.js' }),
  },
]

function nextOutcome(app: FrameworkApp): Outcome {
  const output = /\boutput\s*:\s*['"`](\w+)/.exec(configOf(app, 'next.config'))?.[1]
  if (output === 'export') return { gives: 'site', publish: ['out'] }
  const server = { gives: 'server' as const, forSite: "set output: 'export' in next.config" }
  if (output !== 'standalone') return { ...server, start: 'next start' }
  // Its server stands as deep below as the app does in what Next.js takes for the root: that of the workspace.
  const own = ['.next/standalone', app.appDir].filter((part) => part !== '').join('/')
  const copyPublic = `if [ -d public ]; then cp -R public ${shellWord(`${own}/`)}; fi`
  return {
    ...server,
    start: `node ${shellWord(`${own}/server.js`)}`,
    env: { HOSTNAME: '0.0.0.0' },
    replaces: /^next start\b/,
    finish: `cp -R .next/static ${shellWord(`${own}/.next/`)} && ${copyPublic}`,
  }
}

function svelteOutcome(app: FrameworkApp): Outcome {
  if (dependsOn(app, '@sveltejs/adapter-static')) return { gives: 'site', publish: ['build'] }
  // Its server refuses forms that come from elsewhere, so the address that it is reached at has to be told.
  const reached = { PROTOCOL_HEADER: 'x-forwarded-proto', HOST_HEADER: 'x-forwarded-host' }
  if (dependsOn(app, '@sveltejs/adapter-node', 'svelte-adapter-bun'))
    return {
      gives: 'server',
      start: 'node build',
      env: { ...ALL_ADDRESSES, ...reached },
      forSite: 'build it with @sveltejs/adapter-static in svelte.config.js',
    }
  return {
    gives: 'nothing',
    reason:
      'SvelteKit builds nothing here without an adapter: install @sveltejs/adapter-node (for a static_site @sveltejs/adapter-static) and name it in svelte.config.js',
  }
}
