import { dependsOn, type Framework, type FrameworkApp, giving, ONLY_DEV_VITE, type Outcome } from './framework.ts'

/** Frameworks that give files. Vite comes last, as many of the others are built with it. */
export const siteFrameworks: readonly Framework[] = [
  {
    title: 'Gatsby',
    packages: ['gatsby'],
    build: 'gatsby build',
    buildEnv: { GATSBY_TELEMETRY_DISABLED: '1' },
    unfitStart: /^gatsby dev/,
    outcome: giving({ gives: 'site', publish: ['public'] }),
  },
  {
    title: 'Docusaurus',
    packages: ['@docusaurus/core'],
    build: 'docusaurus build',
    unfitStart: /^docusaurus start\b/,
    outcome: giving({ gives: 'site', publish: ['build'] }),
  },
  {
    title: 'Eleventy',
    packages: ['@11ty/eleventy'],
    build: 'eleventy',
    unfitStart: /\beleventy\b/,
    outcome: giving({ gives: 'site', publish: ['_site', 'dist'] }),
  },
  {
    title: 'Angular',
    packages: ['@angular/core'],
    build: 'ng build',
    buildEnv: { NG_CLI_ANALYTICS: 'false' },
    unfitStart: /^ng serve\b/,
    outcome: angularOutcome,
  },
  {
    title: 'Create React App',
    packages: ['react-scripts'],
    build: 'react-scripts build',
    unfitStart: /^react-scripts start\b/,
    outcome: giving({ gives: 'site', publish: ['build'] }),
  },
  {
    title: 'Vite',
    packages: ['vite'],
    build: 'vite build',
    unfitStart: ONLY_DEV_VITE,
    hasServersBeside: true,
    outcome: giving({ gives: 'site', publish: ['dist'] }),
  },
]

function angularOutcome(app: FrameworkApp): Outcome {
  const name = angularProject(app)
  if (name !== undefined && dependsOn(app, '@angular/ssr')) {
    const script = Object.entries(app.pkg.scripts).find(([key]) => key.startsWith('serve:ssr'))?.[1]
    return {
      gives: 'server',
      start: script ?? `node dist/${name}/server/server.mjs`,
      forSite: 'set "outputMode": "static" in angular.json, and publishPath to its folder "browser"',
    }
  }
  return { gives: 'site', publish: [...(name === undefined ? [] : [`dist/${name}/browser`, `dist/${name}`]), 'dist'] }
}

/** Names of projects stand in paths and commands, so that of an unusual one is left to its owner. */
function angularProject({ files }: FrameworkApp): string | undefined {
  const [name] = Object.keys(projectsIn(files.read('angular.json') ?? ''))
  return name !== undefined && /^[\w-]+$/.test(name) ? name : undefined
}

function projectsIn(text: string): object {
  try {
    const projects: unknown = JSON.parse(text)?.projects
    return typeof projects === 'object' && projects !== null ? projects : {}
  } catch {
    return {}
  }
}
