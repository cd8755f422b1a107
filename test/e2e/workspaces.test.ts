import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { type Compiled, ownEnv, startCompiled } from '../support/compiled.ts'
import { deployFolder } from '../support/compiled-steps.ts'

const PNPM = 'pnpm@9.15.4'

let cpd: Compiled
let box: string

beforeAll(async () => {
  box = mkdtempSync(join(tmpdir(), 'cpd-workspaces-'))
  cpd = await startCompiled()
})
afterAll(async () => {
  rmSync(box, { recursive: true })
  await cpd.stop()
})

/** The app tells what it was built out of, and which packages it finds. */
const SERVER = `const has = (name) => { try { require.resolve(name); return true } catch { return false } }
const text = [require('@x/ui'), has('ms'), has('left-pad'), has('../other/node_modules/left-pad')].join(' ')
require('node:http').createServer((_, response) => response.end(text)).listen(process.env.PORT)
`

function filesOf(needs: string): Record<string, object | string> {
  const scripts = { build: 'node build.js' }
  const making = (value: string) => `require('node:fs').writeFileSync('made.js', 'module.exports = ' + JSON.stringify(${value}))\n`
  return {
    'package.json': { private: true, workspaces: ['apps/*', 'packages/*'], devDependencies: { kleur: '4.1.5' } },
    'apps/web/package.json': { name: 'web', dependencies: { '@x/ui': needs, ms: '2.1.3' }, scripts: { start: 'node server.js' } },
    'apps/web/server.js': SERVER,
    'apps/other/package.json': { name: 'other', dependencies: { 'left-pad': '1.3.0' }, scripts: { build: 'exit 3' } },
    'packages/core/package.json': { name: '@x/core', version: '1.0.0', main: 'made.js', scripts },
    'packages/core/build.js': making("'core'"),
    'packages/ui/package.json': { name: '@x/ui', version: '1.0.0', main: 'made.js', dependencies: { '@x/core': needs }, scripts },
    'packages/ui/build.js': making("'ui of ' + require('@x/core')"),
  }
}

async function writeWorkspace(name: string, files: Record<string, object | string>, lock: string[]): Promise<string> {
  const dir = join(box, name)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  const { exitCode, stderr } = await runProcess(lock, { cwd: dir, env: ownEnv(), timeoutMs: 120_000 })
  expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' })
  return dir
}

test.each([
  {
    name: 'npm',
    files: filesOf('*'),
    lock: ['npm', 'install', '--package-lock-only'],
    install: 'npm ci --workspace apps/web --include-workspace-root --include=dev',
    build: 'npm run build --workspace packages/core --workspace packages/ui',
  },
  {
    name: 'pnpm',
    files: { ...filesOf('workspace:*'), 'pnpm-workspace.yaml': "packages: ['apps/*', 'packages/*']\n" },
    lock: ['npx', '--yes', PNPM, 'install', '--lockfile-only'],
    install: `npx --yes pnpm@10 install --frozen-lockfile --prod=false --filter web... --filter '{.}'`,
    build: `npx --yes pnpm@10 --filter 'web^...' run build`,
  },
])(
  '$name installs and builds of a workspace what the app needs, and the next deploy of the same lock file installs nothing',
  async (manager) => {
    const { name, files, lock, install, build } = manager
    const dir = await writeWorkspace(name, files, lock)
    const deploy = () => deployFolder(cpd, dir, ['--service', name, '--root-dir', 'apps/web'])
    const first = await deploy()
    expect(first).toContain(`==> install: ${install}`)
    expect(first).toContain(`==> build of what it needs: ${build}`)
    expect(first).toContain('Dependencies are kept for builds of the same lock file')
    const answer = async () => await (await cpd.appFetch(name)).text()
    expect(await answer()).toBe('ui of core true false false')
    writeFileSync(join(dir, 'apps/web/new.js'), '')
    const second = await deploy()
    expect(second).toContain('Dependencies are those of an earlier build')
    expect(await answer()).toBe('ui of core true false false')
    console.info(
      `${name}: first${first.match(/used by install: [^,]*/)?.[0].slice(15)}, again${second.match(/used by install: [^,]*/)?.[0].slice(15)}`,
    )
  },
  240_000,
)
