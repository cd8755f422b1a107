import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { detectBuild } from '../../../../server/builders/detect/detect.ts'
import { openSourceView } from '../../../../server/builders/detect/source-view.ts'
import { openToolchainStore } from '../../../../server/builders/toolchains/store/store.ts'
import type { Tool, Toolchains } from '../../../../server/builders/toolchains/tool.ts'
import { uvPin } from '../../../../server/builders/toolchains/uv/pin.ts'
import { provideUv } from '../../../../server/builders/toolchains/uv/provide-uv.ts'
import { uvSettings } from '../../../../server/builders/toolchains/uv/uv-settings.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { keep, placeKept } from '../../../support/kept-toolchain.ts'

const UV = `uv-${uvPin.version}`
const pipEnv = Object.fromEntries(Object.entries(Bun.env).flatMap(([name, value]) => (/^PIP_/.test(name) && value ? [[name, value]] : [])))

let box: string
let toolchains: Toolchains

beforeAll(async () => {
  box = mkdtempSync(join(tmpdir(), 'locks-'))
  const dir = join(box, 'toolchains')
  const store = await openToolchainStore(dir, { maxBytes: 2 ** 32, foldersInUse: () => [] })
  await placeKept(dir, UV)
  const uv = await provideUv({ store, env: pipEnv, signal: new AbortController().signal, log: () => {} })
  await keep(dir, UV)
  const python: Tool = { directory: '/usr/bin', env: {}, readOnlyBinds: [] }
  toolchains = { tools: { python }, problems: {}, uv }
}, 60_000)
afterAll(() => rmSync(box, { recursive: true }))

/** What each lock file of the fixtures says. */
const HASH = 'sha256:4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274'
const WHEEL = 'six-1.17.0-py2.py3-none-any.whl'

const PROJECT = '[project]\nname = "shop"\nversion = "0.1.0"\nrequires-python = ">=3.9"\ndependencies = ["six==1.17.0"]\n'

const UV_LOCK = `version = 1
revision = 3
requires-python = ">=3.9"

[[package]]
name = "shop"
version = "0.1.0"
source = { virtual = "." }
dependencies = [
    { name = "six" },
]

[package.metadata]
requires-dist = [{ name = "six", specifier = "==1.17.0" }]

[[package]]
name = "six"
version = "1.17.0"
source = { registry = "https://pypi.org/simple" }
wheels = [
    { url = "https://files.pythonhosted.org/packages/b7/ce/149a00dd41f10bc29e5921b496af8b574d8413afcd5e30dfa0ed46c2cc5e/${WHEEL}", hash = "${HASH}", size = 11050 },
]
`

const POETRY_PROJECT = `[tool.poetry]
name = "shop"
version = "0.1.0"
description = ""
authors = []
package-mode = false

[tool.poetry.dependencies]
python = "^3.9"
six = "1.17.0"

[tool.poetry.group.dev.dependencies]
iniconfig = "*"
`

const POETRY_PACKAGE = `${POETRY_PROJECT.replace('package-mode = false\n', '')}
[tool.poetry.scripts]
shop = "shop:main"

[build-system]
requires = ["poetry-core>=2,<3"]
build-backend = "poetry.core.masonry.api"
`

const POETRY_LOCK = `[[package]]
name = "six"
version = "1.17.0"
description = "Python 2 and 3 compatibility utilities"
optional = false
python-versions = ">=2.7"
groups = ["main"]
files = [
    {file = "${WHEEL}", hash = "${HASH}"},
]

[metadata]
lock-version = "2.1"
python-versions = "^3.9"
content-hash = "cfa1847d724049c62111df669b908c0d24db05af7c572093883102cdfd1d2ed5"
`

const PIPFILE_LOCK = JSON.stringify({
  _meta: { requires: { python_version: '3' }, sources: [{ name: 'pypi', url: 'https://pypi.org/simple', verify_ssl: true }] },
  default: { six: { hashes: [HASH], index: 'pypi', version: '==1.17.0' } },
  develop: { iniconfig: { version: '==2.0.0' } },
})

async function build(name: string, files: Record<string, string>): Promise<string> {
  const source = join(box, name)
  mkdirSync(source)
  for (const [path, text] of Object.entries({ 'main.py': '', ...files })) {
    mkdirSync(dirname(join(source, path)), { recursive: true })
    writeFileSync(join(source, path), text)
  }
  const plan = detectBuild({ files: openSourceView(source), settings: { type: 'web_service' }, toolchains })
  const PATH = [join(source, '.venv/bin'), toolchains.uv?.directory, '/usr/bin', '/bin'].join(':')
  const env = { ...uvSettings(pipEnv), ...pipEnv, ...plan.buildEnv, UV_CACHE_DIR: join(box, 'cache'), HOME: box, PATH }
  for (const { command } of plan.steps) {
    const { exitCode, stdout, stderr } = await runProcess(['/bin/sh', '-c', command], { cwd: source, env, timeoutMs: 120_000 })
    expect({ exitCode, said: exitCode === 0 ? '' : `${command}: ${stdout}${stderr}` }).toEqual({ exitCode: 0, said: '' })
  }
  const release = join(box, `${name} elsewhere`)
  renameSync(source, release)
  return release
}

const find = async (release: string, module: string): Promise<string> => {
  const script = `import importlib.util; print(importlib.util.find_spec(${JSON.stringify(module)}) is not None)`
  return (await runProcess([join(release, '.venv/bin/python'), '-c', script], { env: {} })).stdout.trim()
}

test.each([
  ['uv.lock', { 'pyproject.toml': PROJECT, 'uv.lock': UV_LOCK, '.python-version': '3.99' }],
  ['poetry.lock', { 'pyproject.toml': POETRY_PROJECT, 'poetry.lock': POETRY_LOCK }],
  ['Pipfile.lock', { Pipfile: '', 'Pipfile.lock': PIPFILE_LOCK }],
  ['requirements.txt', { 'requirements.txt': 'six==1.17.0\n' }],
])(
  'what a %s says is installed, and nothing for development, and works where it is moved to',
  async (name, files) => {
    const release = await build(name, files)
    expect([await find(release, 'six'), await find(release, 'iniconfig')]).toEqual(['True', 'False'])
  },
  150_000,
)

test('a project of Poetry that is a package is installed beside what it asks for, with its programs', async () => {
  const files = { 'pyproject.toml': POETRY_PACKAGE, 'poetry.lock': POETRY_LOCK, 'src/shop/__init__.py': 'def main():\n    print("shop")\n' }
  const release = await build('package', files)
  expect([await find(release, 'six'), await find(release, 'shop')]).toEqual(['True', 'True'])
  expect((await runProcess([join(release, '.venv/bin/shop')], { env: { PATH: '/usr/bin:/bin' } })).stdout).toBe('shop\n')
}, 150_000)
