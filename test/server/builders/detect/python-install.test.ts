import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { detectBuild } from '../../../../server/builders/detect/detect.ts'
import type { BuildSettings } from '../../../../server/builders/port.ts'
import { uvSettings } from '../../../../server/builders/toolchains/uv/uv-settings.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { everyTool, sourceOf } from './source.ts'

const uv = { directory: '/store/uv/bin', version: '0.13.9', env: {}, readOnlyBinds: ['/store/uv'] }

const detect = (files: Record<string, string>, settings: Partial<BuildSettings> = {}) =>
  detectBuild({
    files: sourceOf({ 'main.py': '', ...files }),
    settings: { type: 'web_service', ...settings },
    toolchains: { ...everyTool, uv },
  })
const commands = (...given: Parameters<typeof detect>) => detect(...given).steps.map(({ command }) => command)

const CREATE = 'uv venv --quiet --clear --relocatable --python /tools/python/bin/python3 .venv'

test.each([
  [{ 'requirements.txt': 'flask' }, 'uv pip install -r requirements.txt'],
  [{ 'pyproject.toml': '' }, 'uv pip install .'],
  [{ 'setup.py': '' }, 'uv pip install .'],
  [
    { 'pyproject.toml': '', 'uv.lock': '', 'requirements.txt': 'flask' },
    'uv sync --python .venv/bin/python --locked --no-dev --no-editable --inexact',
  ],
  [
    { 'pyproject.toml': '', 'poetry.lock': '', 'requirements.txt': 'flask' },
    expect.stringMatching(/^uvx .* poetry export .* && uv pip install -r/),
  ],
  [{ Pipfile: '', 'Pipfile.lock': '' }, expect.stringContaining('uv pip install -r .venv/requirements.txt')],
])('what says its packages by %j is installed by uv', (files, command) => {
  const plan = detect(files)
  expect(plan.steps.map((step) => step.command).slice(0, 2)).toEqual([CREATE, command])
  expect(plan.steps[2]?.name).toBe('make .venv movable')
  expect(plan).toMatchObject({ packageManager: 'uv', cacheEnv: { UV_CACHE_DIR: 'uv' }, buildEnv: { UV_PYTHON_DOWNLOADS: 'never' } })
  expect(plan.pathEntries).toEqual(['.venv/bin', '/tools/python/bin', '/store/uv/bin'])
  expect(plan.readOnlyBinds).toContain('/store/uv')
})

const POETRY = '[project]\nname = "my-shop"\n[build-system]\nbuild-backend = "poetry.core.masonry.api"\n'

test.each<[project: string, files: Record<string, string>, isInstalled: boolean]>([
  [POETRY, { 'src/my_shop/main.py': '' }, true],
  [POETRY, { 'my_shop/__init__.py': '' }, true],
  [POETRY, { 'my_shop.py': '' }, true],
  [`${POETRY}[tool.poetry]\npackages = [{ include = "web" }]\n`, {}, true],
  ['[project]\nname = "my-shop"\n[build-system]\nbuild-backend = "hatchling.build"\n', {}, true],
  [POETRY, { 'web/__init__.py': '' }, false],
  [`${POETRY}[tool.poetry]\npackage-mode = false\n`, { 'my_shop/__init__.py': '' }, false],
  ['[tool.poetry]\nname = "my-shop"\n', { 'my_shop/__init__.py': '' }, false],
])('a project of Poetry %j with %j is installed itself: %s', (project, files, isInstalled) => {
  const install = commands({ 'pyproject.toml': project, 'poetry.lock': '', ...files })[1]
  expect(install?.endsWith(' && uv pip install --no-deps .')).toBe(isInstalled)
})

test('a build command of its owner finds pip, and nothing is installed where nothing is asked for', () => {
  expect(commands({}, { buildCommand: 'pip install x' }).slice(0, 2)).toEqual([
    CREATE.replace(' --python', ' --seed --python'),
    'pip install x',
  ])
  expect(commands({ 'requirements.txt': '# none\n' })).toEqual([CREATE])
})

test('a Pipfile is refused without the lock file that says what it stands for, and goes by that without uv too', () => {
  const refusal = 'Pipfile has no Pipfile.lock beside it: run "pipenv lock", commit both, and deploy again'
  const byPip = (files: Record<string, string>, settings: Partial<BuildSettings> = {}) =>
    detectBuild({ files: sourceOf({ 'main.py': '', ...files }), settings: { type: 'web_service', ...settings }, toolchains: everyTool })
  const Pipfile = '[packages]\nflask = "*"\n'
  for (const plan of [detect, byPip]) {
    expect(() => plan({ Pipfile })).toThrow(refusal)
    expect(() => plan({ Pipfile, 'requirements.txt': '# none\n' })).toThrow(refusal)
    expect(plan({ Pipfile, 'requirements.txt': 'flask' }).steps[1]?.command).toContain('pip install -r requirements.txt')
    expect(plan({ Pipfile, 'setup.py': '' }).steps[1]?.command).toContain('pip install .')
    expect(plan({ Pipfile }, { buildCommand: 'pip install flask' }).steps[1]?.command).toBe('pip install flask')
  }
  const steps = byPip({ Pipfile, 'Pipfile.lock': '{}', 'requirements.txt': 'flask', 'app.py': 'app = Flask(__name__)' }).steps
  expect(steps.map(({ name }) => name)).toEqual([
    'virtual environment',
    'install',
    'server, where the app brings none',
    'make .venv movable',
  ])
  expect(steps[0]?.command).not.toContain('--without-pip')
  expect(steps[1]?.command).toMatch(/^python - .* && pip install -r \.venv\/requirements\.txt\n/)
})

test('names of packages are found in a Pipfile and among the keys of Poetry', () => {
  const start = (files: Record<string, string>) => detect({ 'app.py': 'app = Flask(__name__)', ...files }).startCommand
  expect(start({ 'Pipfile.lock': '', Pipfile: '[packages]\nflask = "*"\ngunicorn = "*"\n' })).toContain('python -m gunicorn')
  expect(start({ 'pyproject.toml': '[tool.poetry.dependencies]\npython = "^3"\ngunicorn = "^23"\n' })).toContain('python -m gunicorn')
  expect(start({ 'pyproject.toml': '[project]\ndependencies = ["flask"]\n' })).toContain('python -m gunicorn')
})

test('a Pipfile.lock becomes the list of requirements that it is', async () => {
  const box = mkdtempSync(join(tmpdir(), 'pipfile-'))
  try {
    mkdirSync(join(box, '.venv'))
    mkdirSync(join(box, 'bin'))
    writeFileSync(join(box, 'bin/uv'), '#!/bin/sh\nprintf "%s " "$@" > asked\n', { mode: 0o755 })
    writeFileSync(join(box, 'bin/python'), '#!/bin/sh\nexec /usr/bin/python3 "$@"\n', { mode: 0o755 })
    const lock = {
      _meta: { sources: [{ url: 'https://pypi.org/simple' }, { url: 'https://packages.example/simple' }] },
      default: {
        flask: { version: '==3.1.0', hashes: ['sha256:aa', 'sha256:bb'], markers: "python_version >= '3.9'", index: 'pypi' },
        uvicorn: { version: '==0.30.0', extras: ['standard'], hashes: ['sha256:cc'] },
        mine: { git: 'https://git.example/mine.git', ref: 'abc' },
        local: { path: './lib' },
        packed: { file: 'https://files.example/packed.zip', hashes: ['sha256:dd'] },
      },
      develop: { pytest: { version: '==8.0.0' } },
    }
    writeFileSync(join(box, 'Pipfile.lock'), JSON.stringify(lock))
    const command = commands({ 'Pipfile.lock': '' })[1] ?? ''
    const { exitCode, stderr } = await runProcess(['/bin/sh', '-c', command], {
      cwd: box,
      env: { PATH: `${join(box, 'bin')}:/usr/bin:/bin` },
    })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(readFileSync(join(box, '.venv/requirements.txt'), 'utf8').trim().split('\n')).toEqual([
      '--extra-index-url https://packages.example/simple',
      "flask==3.1.0 ; python_version >= '3.9' --hash=sha256:aa --hash=sha256:bb",
      'uvicorn[standard]==0.30.0 --hash=sha256:cc',
      'mine @ git+https://git.example/mine.git@abc',
      './lib',
      'packed @ https://files.example/packed.zip',
    ])
    expect(readFileSync(join(box, 'asked'), 'utf8')).toBe('pip install -r .venv/requirements.txt ')
  } finally {
    rmSync(box, { recursive: true })
  }
})

test('what pip is told holds for uv', () => {
  expect(uvSettings({ PIP_INDEX_URL: 'https://mirror.example/simple', PIP_CERT: '/etc/ca.pem', PIP_TIMEOUT: '3', PIP_PROXY: '' })).toEqual({
    UV_DEFAULT_INDEX: 'https://mirror.example/simple',
    SSL_CERT_FILE: '/etc/ca.pem',
  })
})
