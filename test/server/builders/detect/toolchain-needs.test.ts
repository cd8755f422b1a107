import { describe, expect, test } from 'vitest'
import type { DetectInput } from '../../../../server/builders/detect/plan.ts'
import { nodeNeed } from '../../../../server/builders/detect/toolchain-needs.ts'
import { onlyOurselves, sourceOf } from './source.ts'

const json = JSON.stringify
const app = (changes: Record<string, unknown> = {}) => json({ scripts: { start: 'node app.js' }, ...changes })

function need(files: Record<string, string>, settings: Partial<DetectInput['settings']> = {}, more: Partial<DetectInput> = {}) {
  return nodeNeed({ files: sourceOf(files), settings: { type: 'web_service', ...settings }, toolchains: onlyOurselves, ...more })
}

describe('a build needs Node.js', () => {
  test('for what is JavaScript and does not ask for Bun', () => {
    expect(need({ 'package.json': app() })).toEqual({})
    expect(need({ 'index.js': '' })).toEqual({})
    expect(need({ 'package.json': '{}', 'index.ts': '' }, { startCommand: 'npx tsx index.ts' })).toEqual({})
    expect(need({ 'package.json': json({ scripts: { build: 'vite build' } }) }, { type: 'static_site' })).toEqual({})
  })

  test('and for nothing else', () => {
    expect(need({ 'package.json': app(), 'bun.lock': '' })).toBeUndefined()
    expect(need({ 'package.json': app({ packageManager: 'bun@1.4.5' }) })).toBeUndefined()
    expect(need({ 'package.json': app() }, { runtime: 'bun' })).toBeUndefined()
    expect(need({ 'package.json': app() }, { startCommand: 'bun app.js' })).toBeUndefined()
    expect(need({ 'package.json': '{}', 'index.ts': '' })).toBeUndefined()
    expect(need({ 'package.json': app(), 'requirements.txt': '' }, { runtime: 'python' })).toBeUndefined()
    expect(need({ 'go.mod': '' })).toBeUndefined()
    expect(need({ 'package.json': app(), 'index.html': '' }, { type: 'static_site' })).toBeUndefined()
  })
})

test('the version is told by the first place that names one', () => {
  const files: Record<string, string> = {
    'package.json': app({ engines: { node: '18' }, volta: { node: '19.0.0' } }),
    '.nvmrc': '20',
    '.node-version': 'v21.1.0\n',
  }
  const env = { NODE_VERSION: '22' }
  expect(need(files, {}, { env })?.wish).toEqual({ source: 'NODE_VERSION', wanted: '22' })
  expect(need(files)?.wish).toEqual({ source: '.node-version', wanted: '21.1.0' })
  const { '.node-version': _, ...withNvmrc } = files
  expect(need(withNvmrc)?.wish).toEqual({ source: '.nvmrc', wanted: '20' })
  const { '.nvmrc': __, ...alone } = withNvmrc
  expect(need(alone)?.wish).toEqual({ source: 'volta', wanted: '19.0.0' })
  expect(need({ 'package.json': app({ engines: { node: '18' } }) })?.wish).toEqual({ source: 'engines', wanted: '18' })
})

test('a member of a workspace goes before its root', () => {
  const workspace = { files: sourceOf({ 'package.json': json({ workspaces: ['apps/*'] }), '.nvmrc': '20' }), appDir: 'apps/web' }
  expect(need({ 'package.json': app() }, {}, { workspace })?.wish).toEqual({ source: '.nvmrc of the workspace', wanted: '20' })
  expect(need({ 'package.json': app({ engines: { node: '22' } }) }, {}, { workspace })?.wish?.wanted).toBe('22')
})
