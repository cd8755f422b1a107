import { expect, test } from 'vitest'
import type { DetectInput } from '../../../../server/builders/detect/plan.ts'
import { pythonNeed } from '../../../../server/builders/detect/toolchain-needs.ts'
import { onlyOurselves, sourceOf } from './source.ts'

function need(files: Record<string, string>, settings: Partial<DetectInput['settings']> = {}, env: Record<string, string> = {}) {
  return pythonNeed({ files: sourceOf(files), settings: { type: 'web_service', ...settings }, toolchains: onlyOurselves, env })
}

test('a build needs Python for what is written in it, and for nothing else', () => {
  expect(need({ 'main.py': '' })).toEqual({})
  expect(need({ Pipfile: '' })).toEqual({})
  expect(need({ 'package.json': '{}', 'app.py': '' }, { runtime: 'python' })).toEqual({})
  expect(need({ 'package.json': '{}', 'app.py': '' })).toBeUndefined()
  expect(need({ 'main.py': '', 'index.html': '' }, { type: 'static_site' })).toBeUndefined()
})

test('the version is told by the first place that names one', () => {
  const files: Record<string, string> = {
    'main.py': '',
    '.python-version': '3.12\n3.11\n',
    'runtime.txt': 'python-3.11.4\n',
    'pyproject.toml': '[tool.poetry.dependencies]\npython = "^3.9"\n[project]\nrequires-python = ">=3.10"\n',
    'Pipfile.lock': '{"_meta":{"requires":{"python_version":"3.8"}}}',
  }
  expect(need(files, {}, { PYTHON_VERSION: '3.13' })?.wish).toEqual({ source: 'PYTHON_VERSION', wanted: '3.13' })
  for (const [file, source, wanted] of [
    ['.python-version', '.python-version', '3.12'],
    ['runtime.txt', 'runtime.txt', '3.11.4'],
    ['pyproject.toml', 'requires-python', '>=3.10'],
    ['Pipfile.lock', 'Pipfile.lock', '3.8'],
  ] as const) {
    expect(need(files)?.wish).toEqual({ source, wanted })
    delete files[file]
  }
  expect(need(files)).toEqual({})
  expect(need({ 'pyproject.toml': '[tool.poetry.dependencies]\npython = "^3.9"\n' })?.wish?.wanted).toBe('^3.9')
})
