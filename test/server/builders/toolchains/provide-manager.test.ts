import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ManagerPin } from '../../../../server/builders/toolchains/node/manager-pin.ts'
import { provideNode } from '../../../../server/builders/toolchains/node/provide-node.ts'
import { titleOf } from '../../../../server/builders/toolchains/store/rules.ts'
import { openToolchainStore, type ToolchainStore } from '../../../../server/builders/toolchains/store/store.ts'
import type { Tool, Toolchains } from '../../../../server/builders/toolchains/tool.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { type PackageRegistry, startNpmRegistry } from '../../../support/npm-registry.ts'

const YARN = "console.log('yarn', process.argv.slice(2).join())"
const packageOf = (bin: unknown, programs: Record<string, string>) => [
  { name: 'package/package.json', content: JSON.stringify({ bin }) },
  ...Object.entries(programs).map(([path, content]) => ({ name: `package/${path}`, content })),
]

let registry: PackageRegistry
let dir: string
let store: ToolchainStore
let log: string[]

beforeAll(async () => {
  registry = await startNpmRegistry(['22.11.0'], ['10.9.4', '10.9.0'], {
    'pnpm@9.1.0': packageOf({ pnpm: 'bin/pnpm.cjs', pnpx: 'bin/pnpx.cjs' }, { 'bin/pnpm.cjs': "console.log('pnpm')", 'bin/pnpx.cjs': '' }),
    'pnpm@9.2.0': packageOf({ pnpm: '../../../../../etc/passwd' }, {}),
    'yarn@1.22.22': packageOf({ yarn: './bin/yarn.js' }, { 'bin/yarn.js': YARN }),
    'pnpm@9.3.0': packageOf({ pnpm: 'bin/pnpm.cjs', '../../../escaped': 'bin/pnpm.cjs' }, { 'bin/pnpm.cjs': '' }),
    '@yarnpkg/cli-dist@4.6.0': packageOf({ yarn: './other.js' }, { 'bin/yarn.js': YARN, 'other.js': 'steal()' }),
    '@yarnpkg/cli-dist@4.5.0': packageOf({ yarn: './bin/yarn.js' }, { 'bin/yarn.js': YARN }),
  })
})
afterAll(() => registry.stop())

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'managers-'))
  store = await openToolchainStore(dir, { maxBytes: 2 ** 32, foldersInUse: () => [] })
  log = []
  registry.asked = []
})
afterEach(() => {
  registry.before = undefined
  rmSync(dir, { recursive: true })
})

const tool: Tool = { directory: '/usr/bin', version: '22.11.0', env: {}, readOnlyBinds: [] }
const machine: Toolchains = { tools: { node: tool, npm: tool }, problems: {} }

const provide = (manager: ManagerPin): Promise<Toolchains> => {
  const providing = {
    store,
    env: { npm_config_registry: registry.url },
    signal: new AbortController().signal,
    log: (line: string) => log.push(line),
  }
  return provideNode(machine, { manager }, providing)
}
const pinned = (name: ManagerPin['name'], version: string, algorithm = 'sha512'): ManagerPin => ({
  name,
  version,
  hash: { algorithm, hex: registry.hashOf(`${name}@${version}`, algorithm) },
})
const run = async (found: Toolchains, program: string, ...args: string[]) =>
  (await runProcess([join(found.manager?.directory ?? '', program), ...args], { env: { PATH: '/usr/bin:/bin' } })).stdout

describe('a package manager whose hash a project names', () => {
  test.each(['sha1', 'sha224', 'sha256', 'sha512'])('is fetched once where its %s is that, and kept under it', async (algorithm) => {
    const pin = pinned('pnpm', '9.1.0', algorithm)
    const found = await provide(pin)
    expect(await run(found, 'pnpm')).toBe('pnpm\n')
    expect(found.tools).toEqual(machine.tools)
    expect(readdirSync(dir)).toEqual([`pnpm-9.1.0+${algorithm}.${pin.hash?.hex}`])
    expect(log).toEqual([expect.stringMatching(/^==> Fetching pnpm 9\.1\.0 from 127/), expect.stringContaining('Its hash is the one that')])
    registry.asked = []
    await provide(pin)
    expect(registry.asked).toEqual([])
  })

  test('is refused where it has another one, with both of them, and leaves nothing', async () => {
    const hex = 'a'.repeat(128)
    const wrong = { name: 'pnpm' as const, version: '9.1.0', hash: { algorithm: 'sha512', hex } }
    await provide(pinned('pnpm', '9.1.0'))
    await expect(provide(wrong)).rejects.toMatchObject({
      code: 'bad_request',
      message: `packageManager in package.json names pnpm 9.1.0 with the hash sha512.${hex}, and the one that is published has sha512.${registry.hashOf('pnpm@9.1.0')}: if the version is meant, run "corepack use pnpm@9.1.0", and deploy again`,
    })
    expect(readdirSync(dir)).toEqual([`pnpm-9.1.0+sha512.${registry.hashOf('pnpm@9.1.0')}`])
  })

  test('is refused with a program of a name that leads elsewhere, or that was not hashed, and leaves nothing', async () => {
    await expect(provide(pinned('pnpm', '9.3.0'))).rejects.toThrow('pnpm 9.3.0 names no programs')
    const hex = createHash('sha224').update(YARN).digest('hex')
    const yarn = { name: 'yarn' as const, version: '4.6.0', hash: { algorithm: 'sha224', hex } }
    await expect(provide(yarn)).rejects.toThrow('yarn 4.6.0 lacks its program "./other.js"')
    expect(readdirSync(dir)).toEqual([])
  })

  test('is Yarn: of 1 by its archive, of 2 and later by its program, as Corepack does', async () => {
    expect(await run(await provide(pinned('yarn', '1.22.22')), 'yarn', 'install', 'a b')).toBe('yarn install,a b\n')
    const hash = { algorithm: 'sha224', hex: createHash('sha224').update(YARN).digest('hex') }
    expect(await run(await provide({ name: 'yarn', version: '4.5.0', hash }), 'yarn')).toBe('yarn \n')
    expect(registry.asked).toContain('@yarnpkg/cli-dist/4.5.0')
  })

  test('is npm, which then goes before the one of the machine', async () => {
    const found = await provide(pinned('npm', '10.9.0'))
    expect(found.manager).toBe(found.tools.npm)
    expect(found.tools.node).toBe(tool)
    expect(await run(found, 'npm')).toBe('10.9.0\n')
  })

  test('is refused where it is not to be had, with the reason', async () => {
    await expect(provide({ ...pinned('pnpm', '9.1.0'), version: '9.9.9' })).rejects.toThrow(
      /^packageManager in package.json names pnpm 9\.9\.9, which could not be had from 127\.0\.0\.1:\d+: .* answered 404 for \/pnpm\/9\.9\.9\. To go on, name/,
    )
  })

  test('gets no program out of its package', async () => {
    await expect(provide(pinned('pnpm', '9.2.0'))).rejects.toThrow('pnpm 9.2.0 lacks its program "../../../../../etc/passwd"')
    expect(readdirSync(dir)).toEqual([])
  })
})

test('npm of a version without a hash is fetched; one that is not to be had is a warning', async () => {
  expect((await provide({ name: 'npm', version: '10.9.0' })).tools.npm?.version).toBe('10.9.0')
  expect(readdirSync(dir)).toEqual(['npm-10.9.0'])
  expect((await provide({ name: 'npm', version: '9.9.9' })).tools.npm).toBe(tool)
  expect(log.at(-1)).toMatch(/^Warning: packageManager in package\.json names npm 9\.9\.9, which could not be had/)
})

test('a hash is no part of what people are told', () => {
  expect(titleOf('pnpm-9.1.0+sha512.abc')).toBe('pnpm 9.1.0')
})
