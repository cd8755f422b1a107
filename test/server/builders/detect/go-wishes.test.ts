import { expect, test } from 'vitest'
import { detectBuild } from '../../../../server/builders/detect/detect.ts'
import type { DetectInput } from '../../../../server/builders/detect/plan.ts'
import { goNeed } from '../../../../server/builders/detect/toolchain-needs.ts'
import type { Toolchains } from '../../../../server/builders/toolchains/tool.ts'
import { onlyOurselves, sourceOf } from './source.ts'

const inputOf = (
  files: Record<string, string>,
  settings: Partial<DetectInput['settings']> = {},
  toolchains = onlyOurselves,
): DetectInput => ({
  files: sourceOf(files),
  settings: { type: 'web_service', ...settings },
  toolchains,
})
const need = (...given: Parameters<typeof inputOf>) => goNeed(inputOf(...given))

test('a build needs Go for what is written in it, and for nothing else', () => {
  expect(need({ 'go.mod': '' })).toEqual({})
  expect(need({ 'main.go': '' }, { runtime: 'go' })).toEqual({})
  expect(need({ 'go.mod': '', 'package.json': '{}' }, { runtime: 'go' })).toEqual({})
  expect(need({ 'go.mod': '', 'package.json': '{}' })).toBeUndefined()
  expect(need({ 'go.mod': '', 'index.html': '' }, { type: 'static_site' })).toBeUndefined()
})

test.each([
  ['module a\n\ngo 1.22\n', { version: '1.22' }],
  ['go 1.22.3 // why\n', { version: '1.22.3' }],
  ['go 1.21\ntoolchain go1.24.4\n', { version: '1.24.4', exact: '1.24.4' }],
  ['go 1.25\ntoolchain go1.24.4\n', { version: '1.25' }],
  ['go 1.23rc1\n', { version: '1.23rc1' }],
  ['go 1.23\ntoolchain default\n', { version: '1.23' }],
  ['go latest\ntoolchain go1.24.4; rm -rf /\n', undefined],
  ['go 1.22/../../x\ntoolchain go../../x\n', undefined],
])('of %j counts %j', (text, expected) => {
  const { exact, version } = expected === undefined ? {} : { exact: undefined, ...expected }
  expect(need({ 'go.mod': text })).toEqual(
    version === undefined ? {} : { least: { source: 'go.mod', version }, ...(exact !== undefined && { exact }) },
  )
})

test('a workspace of Go counts where it asks for more', () => {
  expect(need({ 'go.mod': 'go 1.22\n', 'go.work': 'go 1.24.1\n' })?.least).toEqual({ source: 'go.work', version: '1.24.1' })
  expect(need({ 'go.mod': 'go 1.22\n', 'go.work': 'go 1.18\n' })?.least).toEqual({ source: 'go.mod', version: '1.22' })
})

test('the build log says which Go builds an app, and what asked for it', () => {
  const toolchains: Toolchains = {
    tools: { go: { directory: '/data/toolchains/go-1.24.4/bin', version: '1.24.4', env: {}, readOnlyBinds: [] } },
    problems: {},
  }
  const notes = (text: string) => detectBuild(inputOf({ 'go.mod': text }, {}, toolchains)).notes
  expect(notes('go 1.22\n')).toEqual(['Runtime: Go 1.24.4 (/data/toolchains/go-1.24.4/bin).', 'go.mod asks for Go 1.22, and has it.'])
  expect(notes('')).toEqual(['Runtime: Go 1.24.4 (/data/toolchains/go-1.24.4/bin).'])
})

test('a megabyte of empty lines is read in no time that anybody waits for', () => {
  expect(need({ 'go.mod': '\n'.repeat(1024 * 1024) })).toEqual({})
})
