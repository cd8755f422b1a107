import { describe, expect, test } from 'vitest'
import { detectBuild } from '../../../../server/builders/detect/detect.ts'
import type { BuildPlan } from '../../../../server/builders/detect/plan.ts'
import type { BuildSettings } from '../../../../server/builders/port.ts'
import type { Tool, Toolchains } from '../../../../server/builders/toolchains/tool.ts'
import { sourceOf } from './source.ts'

const tool = (directory: string, version: string): Tool => ({ directory, version, env: {}, readOnlyBinds: [] })
const ours = (directory: string): Tool => ({ ...tool(directory, '1.4.5'), isOurs: true, env: { BUN_BE_BUN: '1' } })
const standIn = ours('/data/toolchain/stand-in')

const withNode: Toolchains = {
  tools: {
    node: tool('/opt/node/bin', '20.11.1'),
    npm: tool('/opt/node/bin', '10.2.4'),
    bun: ours('/data/toolchain'),
    python: tool('/py/bin', '3.11.9'),
    cargo: tool('/rust/bin', '1.80.1'),
  },
  problems: {},
  standIn,
}
const withoutNode: Toolchains = { tools: { bun: ours('/data/toolchain') }, problems: {}, standIn }

const json = JSON.stringify
const app = (changes: Record<string, unknown> = {}) => json({ scripts: { start: 'node app.js' }, ...changes })

function detect(files: Record<string, string>, settings: Partial<BuildSettings> = {}, toolchains = withNode): BuildPlan {
  return detectBuild({ files: sourceOf(files), settings: { type: 'web_service', ...settings }, toolchains })
}
const notes = (...given: Parameters<typeof detect>): string[] => detect(...given).notes.slice(1)

describe('the build log says what runs an app', () => {
  test('that is Node.js wherever there is one, unless the app is started by Bun', () => {
    const node = 'Runtime: Node.js 20.11.1 (/opt/node/bin).'
    expect(notes({ 'package.json': app() })).toEqual([node])
    expect(notes({ 'package.json': app() }, { runtime: 'node' })).toEqual([node])
    expect(notes({ 'package.json': app(), 'bun.lock': '' })).toEqual([node])
    expect(notes({ 'package.json': '{}', 'index.ts': '' })).toEqual(['Runtime: Bun 1.4.5 (part of cpd).'])
    expect(notes({ 'package.json': app() }, { startCommand: 'bunx serve' })).toEqual(['Runtime: Bun 1.4.5 (part of cpd).'])
  })

  test('that is Bun alone where the service wants it, whatever is installed', () => {
    const plan = detect({ 'package.json': app({ dependencies: { ms: '2' } }), 'package-lock.json': '{}' }, { runtime: 'bun' })
    expect(plan).toMatchObject({ runtime: 'bun', packageManager: 'bun', startCommand: 'node app.js' })
    expect(plan.pathEntries).toEqual(['node_modules/.bin', '/data/toolchain/stand-in', '/data/toolchain'])
    expect(plan.notes).toEqual([
      "Packages come from bun (package-lock.json; the service's runtime is bun).",
      'Runtime: Bun 1.4.5 (part of cpd), also where the app asks for node, npm or npx.',
    ])
  })

  test('that is Bun for what asks for Bun where there is no Node.js', () => {
    for (const runtime of [{}, { runtime: 'node' as const }]) {
      const plan = detect({ 'package.json': app(), 'bun.lock': '' }, runtime, withoutNode)
      expect(plan.notes.at(-1)).toBe(
        'Runtime: Bun 1.4.5 (part of cpd), also where the app asks for node, npm or npx: there is no Node.js on this server.',
      )
      expect(plan.pathEntries).toEqual(['node_modules/.bin', '/data/toolchain/stand-in', '/data/toolchain'])
      expect(plan.runtimeEnv).toMatchObject({ BUN_BE_BUN: '1' })
    }
  })

  test('that is Node.js with npm by Bun for what asks for Bun where only npm is missing', () => {
    const { npm: _, ...tools } = withNode.tools
    const plan = detect({ 'package.json': app(), 'bun.lock': '' }, {}, { ...withNode, tools })
    expect(plan.pathEntries).toEqual(['node_modules/.bin', '/opt/node/bin', '/data/toolchain/stand-in', '/data/toolchain'])
    expect(plan.notes.at(-1)).toBe('Runtime: Node.js 20.11.1 (/opt/node/bin).')
  })
})

describe('the build log says what an app asks for', () => {
  test.each([
    ['package.json', app({ engines: { node: '>=18 <21' } }), 'engines asks for Node.js >=18 <21, and has it.'],
    [
      'package.json',
      app({ engines: { node: '^22.1.0', bun: '1' } }),
      'Warning: engines asks for Node.js ^22.1.0, and gets Node.js 20.11.1. If',
    ],
    ['.nvmrc', 'v20\n', '.nvmrc asks for Node.js 20, and has it.'],
    ['.nvmrc', '# ours\n\nv20.12\n', 'Warning: .nvmrc asks for Node.js 20.12, and gets Node.js 20.11.1. If'],
    ['package.json', app({ volta: { node: '20.11.1', npm: '10.2.4' } }), 'volta asks for Node.js 20.11.1, and has it.'],
    ['package.json', app({ volta: { node: '22.11.0' } }), 'Warning: volta asks for Node.js 22.11.0, and gets Node.js 20.11.1. If'],
    ['.nvmrc', 'lts/*', '.nvmrc asks for Node.js lts/*.'],
    ['.nvmrc', 'lts/iron', '.nvmrc asks for Node.js lts/iron, and has it.'],
    ['.node-version', 'lts/Jod', 'Warning: .node-version asks for Node.js lts/Jod, and gets Node.js 20.11.1. If'],
    ['.node-version', '22', 'Warning: .node-version asks for Node.js 22,'],
  ])('in %s: %j', (source, text, line) => {
    const files = { 'package.json': app(), [source]: text }
    expect(notes(files)).toEqual(['Runtime: Node.js 20.11.1 (/opt/node/bin).', expect.stringContaining(line)])
  })

  test('in what is no version at all, in no line', () => {
    for (const text of ['', '\n', 'x'.repeat(300), '\u001b[2J', '20\u0000']) {
      expect(notes({ 'package.json': app(), '.nvmrc': text })).toHaveLength(1)
    }
    expect(notes({ 'package.json': app({ engines: { node: 20, npm: '10' } }) })).toHaveLength(1)
    expect(notes({ 'package.json': app({ volta: { extends: '../package.json' } }) })).toHaveLength(1)
  })

  test('of Bun, where that is wanted, and of Node.js, where Bun stands in', () => {
    const files = { 'package.json': app({ engines: { node: '1', bun: '>=2' }, volta: { node: '2' } }) }
    expect(notes(files, { runtime: 'bun' }).slice(1)).toEqual([
      expect.stringContaining('Warning: engines asks for Bun >=2, and gets Bun 1.4.5.'),
    ])
    expect(notes({ ...files, 'bun.lock': '' }, {}, withoutNode).join('\n')).toContain(
      `Warning: engines asks for Node.js 1, and gets Bun 1.4.5, which acts as Node.js ${process.versions.node}.`,
    )
  })

  test('of Python', () => {
    const runtime = 'Runtime: Python 3.11.9 (/py/bin).'
    expect(notes({ 'main.py': '', '.python-version': '3.11\n' })).toEqual([runtime, '.python-version asks for Python 3.11, and has it.'])
    expect(notes({ 'main.py': '', '.python-version': '3.12.1' })[1]).toContain(
      'Warning: .python-version asks for Python 3.12.1, and gets Python 3.11.9.',
    )
    expect(notes({ 'main.py': '', 'runtime.txt': 'python-3.11.9' })[1]).toBe('runtime.txt asks for Python 3.11.9, and has it.')
  })

  test.each([
    ['>=3.9,<4', 'requires-python asks for Python >=3.9,<4, and has it.'],
    ['>=3.11', 'requires-python asks for Python >=3.11, and has it.'],
    ['>= 3.12 , < 4', 'Warning: requires-python asks for Python >= 3.12 , < 4, and gets Python 3.11.9. If'],
    ['<3.11', 'Warning: requires-python asks for Python <3.11, and gets Python 3.11.9. If'],
    ['>3.11', 'requires-python asks for Python >3.11, and has it.'],
    ['<=3.11', 'Warning: requires-python asks for Python <=3.11, and gets Python 3.11.9.'],
    ['~=3.11', 'requires-python asks for Python ~=3.11, and has it.'],
    ['==3.11.*', 'requires-python asks for Python ==3.11.*, and has it.'],
  ])('of Python in a pyproject.toml: %s', (wanted, line) => {
    const project = `[build-system]\nrequires = []\n\n[project]\nname = "app"\nrequires-python = "${wanted}"\n`
    expect(notes({ 'main.py': '', 'pyproject.toml': project })[1]).toMatch(new RegExp(`^${RegExp.escape(line)}`))
  })

  test.each([
    ['rust-toolchain.toml', '[toolchain]\nchannel = "1.80"\n', 'rust-toolchain.toml asks for Rust 1.80, and has it.'],
    [
      'rust-toolchain.toml',
      '[toolchain]\nchannel = "1.75.0"\n',
      'Warning: rust-toolchain.toml asks for Rust 1.75.0, and gets Rust 1.80.1. If',
    ],
    ['rust-toolchain.toml', '[toolchain]\nchannel = "nightly-2024-01-01"\n', 'rust-toolchain.toml asks for Rust nightly-2024-01-01.'],
    ['rust-toolchain', '1.75.0\n', 'Warning: rust-toolchain asks for Rust 1.75.0, and gets Rust 1.80.1. If'],
    ['rust-toolchain', '[toolchain]\nchannel = "1.80.1"\n', 'rust-toolchain asks for Rust 1.80.1, and has it.'],
  ])('of Rust in a %s: %j', (path, text, line) => {
    const files = { 'Cargo.toml': '[package]\nname = "app"\n', [path]: text }
    expect(detect(files).notes).toEqual(['Runtime: Rust 1.80.1 (/rust/bin).', expect.stringContaining(line)])
  })

  test('of no Rust in a rust-toolchain.toml without a channel', () => {
    const files = { 'Cargo.toml': '[package]\nname = "app"\n', 'rust-toolchain.toml': '[toolchain]\npath = "rust"\n' }
    expect(detect(files).notes).toEqual(['Runtime: Rust 1.80.1 (/rust/bin).'])
  })

  test('in time that grows with the file only', () => {
    const blank = '\n'.repeat(1_000_000)
    const since = performance.now()
    detect({ 'Cargo.toml': '[package]\nname = "app"\n', 'rust-toolchain': blank, 'rust-toolchain.toml': blank })
    detect({ 'main.py': '', 'pyproject.toml': `[project]${blank}x` })
    expect(performance.now() - since).toBeLessThan(2000)
  })

  test('of no Python in another table of a pyproject.toml', () => {
    const files = { 'main.py': '', 'pyproject.toml': '[project]\nname = "app"\n[tool.other]\nrequires-python = ">=4"\n' }
    expect(notes(files)).toHaveLength(1)
  })
})
