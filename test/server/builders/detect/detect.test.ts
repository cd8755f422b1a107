import { describe, expect, test } from 'vitest'
import { detectBuild } from '../../../../server/builders/detect/detect.ts'
import type { BuildPlan } from '../../../../server/builders/detect/plan.ts'
import type { BuildSettings } from '../../../../server/builders/port.ts'
import { FROM_FIRST_PACKAGE } from '../../../../server/builders/toolchains/stand-in.ts'
import type { Toolchains } from '../../../../server/builders/toolchains/tool.ts'
import { everyTool, onlyOurselves, sourceOf, toolchainsOf } from './source.ts'

function detect(files: Record<string, string>, settings: Partial<BuildSettings> = {}, toolchains: Toolchains = everyTool): BuildPlan {
  return detectBuild({ files: sourceOf(files), settings: { type: 'web_service', ...settings }, toolchains })
}

const commands = (plan: BuildPlan): string[] => plan.steps.map((step) => step.command)
const json = JSON.stringify
const tellBlocked = `bun pm untrusted 2>&1 | ${FROM_FIRST_PACKAGE}`
const deps = { dependencies: { express: '5' } }
const start = { scripts: { start: 'node app.js' } }

describe('a JavaScript app', () => {
  test.each([
    ['package-lock.json', '{}', 'npm ci', 'npm'],
    ['pnpm-lock.yaml', "lockfileVersion: '9.0'\n", 'npx --yes pnpm@10 install --frozen-lockfile', 'pnpm'],
    ['pnpm-lock.yaml', "lockfileVersion: '6.0'\n", 'npx --yes pnpm@8 install --frozen-lockfile', 'pnpm'],
    ['yarn.lock', '# yarn lockfile v1\n', 'npx --yes yarn@1 install --frozen-lockfile', 'yarn'],
    ['yarn.lock', '__metadata:\n', 'npx --yes @yarnpkg/cli-dist@4 install --immutable', 'yarn'],
    ['bun.lock', '{}', 'bun install --frozen-lockfile --backend=copyfile', 'bun'],
    ['bun.lockb', '', 'bun install --frozen-lockfile --backend=copyfile', 'bun'],
    ['other.json', '{}', 'npm install', 'npm'],
  ])('with %s is installed by its package manager', (lock, content, command, manager) => {
    const plan = detect({ 'package.json': json({ ...deps, ...start }), [lock]: content })
    expect(commands(plan)).toEqual([command, ...(manager === 'bun' ? [tellBlocked] : [])])
    expect(plan.packageManager).toBe(manager)
    expect(plan.startCommand).toBe('node app.js')
  })

  test('uses the version that packageManager pins', () => {
    const plan = detect({ 'package.json': json({ ...deps, ...start, packageManager: 'pnpm@9.1.0+sha512.abc' }), 'pnpm-lock.yaml': '' })
    expect(commands(plan)).toEqual(['npx --yes pnpm@9.1.0 install --frozen-lockfile'])
  })

  test('with a build script has what its build needs, even when its NODE_ENV says production', () => {
    const built = { ...deps, scripts: { build: 'x', start: 'y' } }
    const install = (lock: string) => commands(detect({ 'package.json': json(built), [lock]: '' }))[0]
    expect(install('package-lock.json')).toBe('npm ci --include=dev')
    expect(install('pnpm-lock.yaml')).toBe('npx --yes pnpm@10 install --frozen-lockfile --prod=false')
    expect(install('yarn.lock')).toBe('npx --yes @yarnpkg/cli-dist@4 install --immutable')
  })

  test('without dependencies is not installed, and its build script is run', () => {
    expect(commands(detect({ 'package.json': json(start) }))).toEqual([])
    expect(commands(detect({ 'package.json': json({ scripts: { start: 'node .', build: 'tsc' } }) }))).toEqual(['npm run build'])
  })

  test('with a build command of its owner runs nothing else', () => {
    const plan = detect(
      { 'package.json': json({ ...deps, scripts: { build: 'x', start: 'y' } }) },
      { buildCommand: 'make', startCommand: './run' },
    )
    expect(commands(plan)).toEqual(['make'])
    expect(plan.startCommand).toBe('./run')
  })

  test('is started by its Procfile before its start script, and by its package manager when that script has hooks', () => {
    expect(detect({ 'package.json': json(start), Procfile: 'worker: node w.js\nweb: node web.js\n' }).startCommand).toBe('node web.js')
    expect(
      detect({ 'package.json': json(start), Procfile: 'worker: node w.js\nweb: node web.js\n' }, { type: 'background_worker' })
        .startCommand,
    ).toBe('node w.js')
    expect(detect({ 'package.json': json({ scripts: { prestart: 'x', start: 'y' } }) }).startCommand).toBe('npm run start')
  })

  test.each([
    [{ 'package.json': json({ main: './lib/run.js' }), 'lib/run.js': '' }, 'node ./lib/run.js', 'node'],
    [{ 'package.json': json({ main: 'lib' }), 'lib/index.js': '' }, 'node ./lib/index.js', 'node'],
    [{ 'package.json': json({ main: 'missing.js' }), 'index.js': '' }, 'node ./index.js', 'node'],
    [{ 'package.json': '{}', 'app.js': '', 'server.js': '' }, 'node ./server.js', 'node'],
    [{ 'server.js': '' }, 'node ./server.js', 'node'],
    [{ 'package.json': '{}', 'index.ts': '' }, 'bun ./index.ts', 'bun'],
    [{ 'package.json': json({ main: "it's;$(id).js" }), "it's;$(id).js": '' }, "node './it'\\''s;$(id).js'", 'node'],
  ] as const)('%j is started from its entry file', (files, command, runtime) => {
    expect(detect(files)).toMatchObject({ startCommand: command, runtime })
  })

  test('that asks for Bun is built by our own executable where no Node is installed', () => {
    const plan = detect(
      { 'package.json': json({ ...deps, scripts: { build: 'x', start: 'bun app.js' } }), 'package-lock.json': '{}' },
      {},
      onlyOurselves,
    )
    expect(commands(plan)).toEqual(['bun install --backend=copyfile', tellBlocked, 'bun run build'])
    expect(plan).toMatchObject({ startCommand: 'bun app.js', runtimeEnv: { BUN_BE_BUN: '1', NODE_ENV: 'production' } })
    expect(plan.pathEntries).toEqual(['node_modules/.bin', '/data/toolchain/stand-in', '/data/toolchain'])
  })

  test('that does not is refused where no Node is installed', () => {
    expect(() => detect({ 'package.json': json(start) }, {}, onlyOurselves)).toThrow('Node.js is not installed on this server')
  })

  test('that never mentions Bun is run by Node without it', () => {
    expect(detect({ 'package.json': json(start) }).pathEntries).toEqual(['node_modules/.bin', '/tools/node/bin', '/tools/npm/bin'])
    for (const files of [
      { 'package.json': json({ scripts: { start: 'bun run x.ts' } }) },
      { 'index.ts': '' },
      { 'app.js': '', Procfile: 'web: bun app.js' },
    ]) {
      expect(detect(files, { runtime: 'node' }).pathEntries).toContain('/tools/bun/bin')
    }
  })

  test('keeps development dependencies installable for its build', () => {
    expect(detect({ 'package.json': json(start) }).buildEnv).not.toHaveProperty('NODE_ENV')
  })
})

describe('a Python app', () => {
  const flask = 'from flask import Flask\napplication = Flask(__name__)\n'
  test.each([
    [{ 'requirements.txt': 'Flask==3\ngunicorn==23\n', 'app.py': flask }, 'python -m gunicorn --bind 127.0.0.1:$PORT app:application'],
    [{ 'requirements.txt': 'flask\n', 'main.py': flask }, 'python -m gunicorn --bind 127.0.0.1:$PORT main:application'],
    [
      { 'requirements.txt': 'fastapi\nuvicorn', 'main.py': 'api: FastAPI = FastAPI()' },
      'python -m uvicorn --host 127.0.0.1 --port $PORT main:api',
    ],
    [
      { 'requirements.txt': 'django\ngunicorn', 'manage.py': '', 'site1/wsgi.py': '' },
      'python -m gunicorn --bind 127.0.0.1:$PORT site1.wsgi',
    ],
    [{ 'requirements.txt': 'x', 'main.py': '' }, 'python main.py'],
    [{ 'requirements.txt': 'x', Procfile: 'web: gunicorn x:y' }, 'gunicorn x:y'],
  ])('%j is started as it seems meant', (files, command) => {
    const plan = detect(files)
    expect(plan).toMatchObject({ runtime: 'python', startCommand: command })
    expect(commands(plan).slice(0, 2)).toEqual(['/tools/python/bin/python3 -m venv --clear .venv', 'pip install -r requirements.txt'])
    expect(plan.steps.at(-1)?.name).toBe('make .venv movable')
  })

  test('with a pyproject.toml is installed itself, and without requirements nothing is', () => {
    expect(commands(detect({ 'pyproject.toml': '[project]\nname = "x"\n', 'main.py': '' }))[1]).toBe('pip install .')
    expect(commands(detect({ 'main.py': '' }))).toEqual(['/tools/python/bin/python3 -m venv --clear --without-pip .venv'])
    expect(commands(detect({ 'requirements.txt': '# none\n', 'main.py': '' }))).toEqual([
      '/tools/python/bin/python3 -m venv --clear --without-pip .venv',
    ])
  })

  test('with a build command of its owner still has its environment', () => {
    expect(commands(detect({ 'main.py': '' }, { buildCommand: 'pip install x' })).slice(0, 2)).toEqual([
      '/tools/python/bin/python3 -m venv --clear .venv',
      'pip install x',
    ])
  })
})

describe('a compiled app', () => {
  test('in Go is built from its root, or its only command', () => {
    expect(commands(detect({ 'go.mod': '', 'main.go': '' }))).toEqual(['go build -buildvcs=false -o .release/app .'])
    const plan = detect({ 'go.mod': '', 'cmd/api/main.go': '' })
    expect(commands(plan)).toEqual(['go build -buildvcs=false -o .release/app ./cmd/api'])
    expect(plan).toMatchObject({ runtime: 'go', startCommand: './.release/app', cacheEnv: { GOCACHE: 'go-build' } })
    expect(() => detect({ 'go.mod': '', 'cmd/a/main.go': '', 'cmd/b/main.go': '' })).toThrow('several programs below cmd/ (a, b)')
  })

  test.each([
    ['[package]\nname = "web"\n', 'web'],
    ['[package]\nname = "web"\ndefault-run = "serve"\n', 'serve'],
    ['[package]\nname = "web"\n[[bin]]\nname = "only"\npath = "x.rs"\n', 'only'],
    ['[package]\nname = "a b; id"\n', "'a b; id'"],
  ])('in Rust is built under the name of %j', (manifest, binary) => {
    const plan = detect({ 'Cargo.toml': manifest, 'Cargo.lock': '' })
    expect(commands(plan)[0]).toBe(
      `cargo build --release --locked --bin ${binary} && mkdir -p .release && cp "$CARGO_TARGET_DIR"/release/${binary} .release/app`,
    )
    expect(plan).toMatchObject({ runtime: 'rust', startCommand: './.release/app' })
  })

  test('whose manifest names no program, or is none, says what to set', () => {
    expect(() => detect({ 'Cargo.toml': '[workspace]\n' })).toThrow('set buildCommand and startCommand')
    expect(() => detect({ 'Cargo.toml': '[[[' })).toThrow('not valid TOML')
  })

  test('with a build command needs a start command', () => {
    expect(() => detect({ 'go.mod': '' }, { buildCommand: 'make' })).toThrow('No start command')
    expect(detect({ 'go.mod': '' }, { buildCommand: 'make', startCommand: './x' }).startCommand).toBe('./x')
  })
})

describe('a static site', () => {
  const site = (files: Record<string, string>, settings: Partial<BuildSettings> = {}) => detect(files, { type: 'static_site', ...settings })

  test('of ready files is published as it is', () => {
    expect(site({ 'index.html': '' })).toMatchObject({ runtime: 'static', steps: [], publishPaths: ['.'] })
    expect(site({ 'public/index.html': '' }).publishPaths).toEqual(['public'])
    expect(site({ 'index.html': '' }, { publishPath: 'docs' }).publishPaths).toEqual(['docs'])
    expect(site({ 'index.html': '' }).startCommand).toBeUndefined()
  })

  test('with a build script is installed and built', () => {
    const plan = site({
      'package.json': json({ devDependencies: { vite: '7' }, scripts: { build: 'vite build' } }),
      'package-lock.json': '{}',
      'index.html': '',
    })
    expect(commands(plan)).toEqual(['npm ci --include=dev', 'npm run build'])
    expect(plan.publishPaths).toEqual(['dist', 'build', 'out', '_site', 'public'])
  })

  test('with nothing to publish says what to add', () => {
    expect(() => site({ 'package.json': '{}' })).toThrow('nothing to publish')
  })
})

describe('a source', () => {
  test('with only a Procfile or start command is started by it', () => {
    expect(detect({ Procfile: '# c\nweb: ./serve --port $PORT\n' })).toMatchObject({
      runtime: 'shell',
      steps: [],
      startCommand: './serve --port $PORT',
    })
    expect(detect({ 'x.sh': '' }, { startCommand: 'sh x.sh', buildCommand: 'true' })).toMatchObject({
      steps: [{ name: 'build', command: 'true' }],
    })
  })

  test('of another stack is started by the command of its owner, with a word in the log', () => {
    const plan = detect({ Gemfile: '', Procfile: 'web: bundle exec puma\n' })
    expect(plan).toMatchObject({ runtime: 'shell', startCommand: 'bundle exec puma' })
    expect(plan.notes).toEqual(['This is a Ruby app (Gemfile): buildCommand has to install what it needs.'])
    expect(detect({ 'deno.json': '', 'main.ts': '' }, { startCommand: 'deno run main.ts' }).startCommand).toBe('deno run main.ts')
    expect(detect({ 'deno.json': '', 'main.ts': '' }, { runtime: 'bun' }).runtime).toBe('bun')
    expect(detect({ 'composer.json': '{}', 'package.json': json(start) }).startCommand).toBe('node app.js')
  })

  test('is planned for the runtime its service names', () => {
    expect(detect({ 'package.json': '{}', 'go.mod': '', 'main.go': '' }, { runtime: 'go' }).runtime).toBe('go')
    expect(detect({ 'package.json': json(start) }, { runtime: 'bun' }).runtime).toBe('bun')
  })

  test.each([
    [{ 'package.json': '{}' }, 'No start command: add a "start" script to package.json, or set startCommand'],
    [{ 'package.json': '[1' }, 'package.json is not a JSON object'],
    [{ 'requirements.txt': 'x' }, 'No start command: add a Procfile'],
    [{ 'index.html': '' }, 'create it as a static_site'],
    [
      { 'package.json': json({ scripts: { build: 'vite build' } }), 'index.html': '' },
      'This source builds a static site, and nothing in it answers requests: create it as a static_site',
    ],
    [{ 'composer.json': '{}', 'package.json': json({ scripts: { build: 'vite build' } }) }, 'This is a PHP app (composer.json)'],
    [{ 'index.php': '' }, 'This is a PHP app (index.php), which cpd does not build by itself: have the operator'],
    [{ Gemfile: '', Dockerfile: '', 'package.json': '{}' }, 'This is a Ruby app (Gemfile)'],
    [{ 'Shop.csproj': '', 'Program.cs': '' }, 'This is a .NET app (Shop.csproj)'],
    [{ 'Shop.sln': '', 'src/Shop/Shop.csproj': '' }, 'This is a .NET app (Shop.sln)'],
    [{ 'deno.json': '{}', 'main.ts': '' }, 'This is a Deno app (deno.json)'],
    [{ 'mix.exs': '' }, 'This is an Elixir app (mix.exs)'],
    [{ 'pom.xml': '' }, 'This is a Java app of Maven (pom.xml)'],
    [{ 'docker-compose.yml': '', 'api/Dockerfile': '' }, 'This is a Compose project (docker-compose.yml)'],
    [{ Dockerfile: '' }, 'This is an app with a Dockerfile (Dockerfile), which cpd does not build by itself: no images are built'],
    [{ 'README.md': '' }, 'Nothing was found that says how to start'],
  ])('%j says what is missing', (files, message) => {
    expect(() => detect(files)).toThrow(message)
  })

  test.each([
    [{ 'go.mod': '' }, 'Go is not installed on this server'],
    [{ 'Cargo.toml': '[package]\nname="x"' }, 'Rust is not installed on this server'],
    [{ 'main.py': '' }, 'Python 3 is not installed on this server'],
    [{ 'package.json': json(start) }, 'Node.js is not installed on this server'],
  ])('%j names the toolchain that is missing', (files, message) => {
    expect(() => detect(files, {}, toolchainsOf())).toThrow(message)
  })
})
