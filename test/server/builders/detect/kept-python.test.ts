import { expect, test } from 'vitest'
import { detectBuild } from '../../../../server/builders/detect/detect.ts'
import { pythonInputs } from '../../../../server/builders/detect/kept-python.ts'
import { everyTool, sourceOf } from './source.ts'

const PROJECT = '[project]\nname = "shop"\ndependencies = ["six"]\n'
const POETRY = '[build-system]\nbuild-backend = "poetry.core.masonry.api"\n'

test.each<[files: Record<string, string>, inputs: string[] | undefined]>([
  [{ 'requirements.txt': '# ours\nflask==3.1.2\nuvicorn[standard]==0.30.0 ; python_version > "3"\n' }, ['requirements.txt']],
  [{ 'requirements.txt': 'six==1.17.0 \\\n    --hash=sha256:abc\n' }, ['requirements.txt']],
  [{ 'requirements.txt': 'flask\n' }, undefined],
  [{ 'requirements.txt': 'flask==3.*\n' }, undefined],
  [{ 'requirements.txt': 'flask==3.1.2\n-r more.txt\n' }, undefined],
  [{ 'requirements.txt': 'flask==3.1.2\n./own\n' }, undefined],
  [{ 'requirements.txt': 'own @ file:./own\n' }, undefined],
  [{ 'uv.lock': '', 'pyproject.toml': PROJECT }, ['uv.lock', 'pyproject.toml']],
  [{ 'uv.lock': '', 'pyproject.toml': `${PROJECT}[build-system]\n` }, undefined],
  [{ 'uv.lock': '', 'pyproject.toml': `${PROJECT}[tool.uv.sources]\nown = { path = "own" }\n` }, undefined],
  [{ 'uv.lock': '', 'pyproject.toml': `${PROJECT}[tool.uv.sources]\nown = { workspace = true }\n` }, undefined],
  [{ 'poetry.lock': '', 'pyproject.toml': `${PROJECT}${POETRY}` }, ['poetry.lock', 'pyproject.toml']],
  [{ 'poetry.lock': '', 'pyproject.toml': `${PROJECT}${POETRY}`, 'src/shop/__init__.py': '' }, undefined],
  [{ 'Pipfile.lock': '{}', Pipfile: 'six = "*"' }, ['Pipfile.lock']],
  [{ 'Pipfile.lock': '{}', Pipfile: 'own = {path = ".", editable = true}' }, undefined],
  [{ 'pyproject.toml': PROJECT }, undefined],
])('an environment of %j is kept by %j', (files, inputs) => {
  expect(pythonInputs(sourceOf(files), 'uv pip')).toEqual(inputs)
})

test('pip goes by the lists that it reads, whatever lock files stand beside them', () => {
  const inputs = (files: Record<string, string>) => pythonInputs(sourceOf(files), 'pip')
  expect(inputs({ 'uv.lock': '', 'pyproject.toml': PROJECT })).toBeUndefined()
  expect(inputs({ 'poetry.lock': '', 'pyproject.toml': PROJECT, 'requirements.txt': 'six==1.17.0' })).toEqual(['requirements.txt'])
  expect(inputs({ Pipfile: 'six = "*"', 'Pipfile.lock': '{}' })).toEqual(['Pipfile.lock'])
})

test('a build command of the owner is run as it is', () => {
  const plan = (buildCommand?: string) => {
    const settings = { type: 'web_service' as const, ...(buildCommand && { buildCommand }) }
    return detectBuild({ files: sourceOf({ 'requirements.txt': 'six==1.17.0', 'main.py': '' }), settings, toolchains: everyTool })
  }
  expect(plan().steps[1]).toMatchObject({ inputs: ['requirements.txt'], keeps: '.venv' })
  expect(plan('pip install six').steps[1]).toEqual({ name: 'build', command: 'pip install six' })
})
