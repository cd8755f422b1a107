import { describe, expect, test } from 'vitest'
import { detectBuild } from '../../../../server/builders/detect/detect.ts'
import type { BuildSettings } from '../../../../server/builders/port.ts'
import { everyTool, sourceOf } from './source.ts'

const uv = { directory: '/store/uv/bin', version: '0.13.9', env: {}, readOnlyBinds: ['/store/uv'] }

const detect = (files: Record<string, string>, settings: Partial<BuildSettings> = {}, env: Record<string, string> = {}) =>
  detectBuild({ files: sourceOf(files), settings: { type: 'web_service', ...settings }, toolchains: { ...everyTool, uv }, env })
const stepNames = (...given: Parameters<typeof detect>) => detect(...given).steps.map(({ name }) => name)

const gunicorn = 'python -m gunicorn --bind 127.0.0.1:$PORT'
const uvicorn = 'python -m uvicorn --host 127.0.0.1 --port $PORT'
const daphne = 'python -m daphne --bind 127.0.0.1 --port $PORT --proxy-headers'
const manage = (settings: string) => `os.environ.setdefault("DJANGO_SETTINGS_MODULE", "${settings}")`
const django = { 'requirements.txt': 'django\n', 'manage.py': manage('shop.settings'), 'shop/wsgi.py': '', 'shop/settings.py': '' }
const STREAMLIT_FLAGS = '--server.port $PORT --server.address 127.0.0.1 --server.headless true --browser.gatherUsageStats false'

describe('an app of Python is started by what its framework goes with', () => {
  test.each<[title: string, files: Record<string, string>, start: string]>([
    ['Django', django, `${gunicorn} shop.wsgi`],
    [
      'Django',
      { ...django, 'manage.py': manage('config.settings.local'), 'config/wsgi.py': '', 'other/wsgi.py': '' },
      `${gunicorn} config.wsgi`,
    ],
    ['Django', { ...django, 'shop/asgi.py': '' }, `${gunicorn} shop.wsgi`],
    ['Django', { ...django, 'shop/asgi.py': '', 'requirements.txt': 'django\nchannels\n' }, `${uvicorn} shop.asgi:application`],
    ['Django', { ...django, 'shop/asgi.py': '', 'requirements.txt': 'django\nuvicorn\n' }, `${uvicorn} shop.asgi:application`],
    ['Django', { ...django, 'shop/asgi.py': '', 'requirements.txt': 'channels\ndaphne\n' }, `${daphne} shop.asgi:application`],
    ['Django', { ...django, 'shop/asgi.py': '', 'requirements.txt': 'django\ndaphne==4.2.1\n' }, `${daphne} shop.asgi:application`],
    ['Django', { ...django, 'shop/asgi.py': '', 'requirements.txt': 'daphne\ngunicorn\n' }, `${gunicorn} shop.wsgi`],
    ['Django', { ...django, 'shop/asgi.py': '', 'requirements.txt': 'channels\ndaphne\nuvicorn\n' }, `${uvicorn} shop.asgi:application`],
    ['Flask', { 'requirements.txt': 'flask', 'app.py': 'shop = flask.Flask(__name__)' }, `${gunicorn} app:shop`],
    ['Flask', { 'requirements.txt': 'flask', 'app/__init__.py': 'app = Flask("x")' }, `${gunicorn} app:app`],
    [
      'Flask',
      { 'requirements.txt': 'flask', 'app/__init__.py': 'def create_app(config=None):\n  app = Flask("x")' },
      `${gunicorn} 'app:create_app()'`,
    ],
    ['Flask', { 'requirements.txt': 'flask', 'app.py': 'def make_app(*args):\n  app = Flask("x")' }, `${gunicorn} 'app:make_app()'`],
    ['FastAPI', { 'requirements.txt': 'fastapi', 'main.py': 'app: FastAPI = FastAPI(title="x")' }, `${uvicorn} main:app`],
    ['FastAPI', { 'pyproject.toml': 'dependencies = ["fastapi"]', 'app/main.py': 'api = fastapi.FastAPI()' }, `${uvicorn} app.main:api`],
    ['Starlette', { 'requirements.txt': 'starlette', 'main.py': 'app = Starlette(routes=[])' }, `${uvicorn} main:app`],
    ['Quart', { 'requirements.txt': 'quart', 'app.py': 'app = Quart(__name__)' }, `${uvicorn} app:app`],
    [
      'Streamlit',
      { 'requirements.txt': 'streamlit', 'app.py': '', 'main.py': 'import streamlit as st' },
      `python -m streamlit run main.py ${STREAMLIT_FLAGS}`,
    ],
  ])('%s in %j', (title, files, start) => {
    const plan = detect(files)
    expect(plan.startCommand).toBe(start)
    expect(plan.notes[0]).toMatch(new RegExp(`^Framework: ${title} \\(.+\\)\\.$`))
  })

  test.each<[files: Record<string, string>, start: string]>([
    [{ 'app.py': 'def create_app(config):\n  app = Flask("x")' }, 'python app.py'],
    [{ 'requirements.txt': 'streamlit', 'main.py': 'import streamlitish' }, 'python main.py'],
    [{ 'main.py': '  app = FastAPI()' }, 'python main.py'],
  ])('and not where it cannot be called as it is: %j', (files, start) => {
    expect(detect(files).startCommand).toBe(start)
  })

  test('where nobody says otherwise', () => {
    expect(detect({ ...django, Procfile: 'web: gunicorn x\n' }).startCommand).toBe('gunicorn x')
    expect(detect(django, { startCommand: 'serve' }).startCommand).toBe('serve')
    expect(stepNames({ ...django, Procfile: 'web: gunicorn x\n' })).toEqual(['virtual environment', 'install', 'make .venv movable'])
  })

  test('and what listens to nothing is no server', () => {
    const files = { 'requirements.txt': 'flask', 'app.py': 'app = Flask(__name__)' }
    expect(detect(files, { type: 'background_worker' }).startCommand).toBe('python app.py')
    expect(() => detect(django, { type: 'background_worker' })).toThrow('No start command: add a Procfile')
  })
})

test('a server is installed where the app brings none, by what installs the rest', () => {
  const { steps } = detect(django)
  expect(steps[2]?.command).toBe("python -c 'import gunicorn' 2>/dev/null || uv pip install gunicorn")
  const byPip = detectBuild({ files: sourceOf(django), settings: { type: 'web_service' }, toolchains: everyTool })
  expect(byPip.steps[2]?.command).toBe("python -c 'import gunicorn' 2>/dev/null || pip install gunicorn")
})

test('a server that the app does not bring answers WebSockets, and one that it brings is not joined by another', () => {
  const channels = (requirements: string) => detect({ ...django, 'shop/asgi.py': '', 'requirements.txt': requirements }).steps[2]?.command
  const uvicorn = "python -c 'import uvicorn' 2>/dev/null || uv pip install 'uvicorn[standard]'"
  expect(channels('channels[daphne]\n')).toBe(uvicorn)
  expect(channels('channels\ndaphne\n')).not.toContain('uvicorn')
  expect(detect({ 'requirements.txt': 'fastapi', 'main.py': 'app = FastAPI()' }).steps[2]?.command).toBe(uvicorn)
})

describe('static files of Django are collected', () => {
  const settings = 'INSTALLED_APPS = ["django.contrib.staticfiles"]\nSTATIC_ROOT = BASE / "static"\n'
  const collected = { ...django, 'shop/settings.py': settings }
  const last = (...given: Parameters<typeof detect>) => detect(...given).steps.at(-1)?.command

  test('where they have a place, also in settings of several files and with a start command of the app', () => {
    const command = 'python manage.py collectstatic --noinput'
    expect(last(collected)).toBe(command)
    expect(last({ ...collected, Procfile: 'web: x\n' })).toBe(command)
    const split = { 'shop/settings/base.py': '"django.contrib.staticfiles"', 'shop/settings/production.py': 'STATIC_ROOT = "x"' }
    expect(last({ ...django, 'shop/settings.py': '', ...split })).toBe(command)
  })

  test('and not without, nor beside a build command of the owner, nor where the service says so', () => {
    expect(stepNames(django)).not.toContain('make ready')
    expect(stepNames({ ...django, 'shop/settings.py': '# STATIC_ROOT = "x"\n"django.contrib.staticfiles"' })).not.toContain('make ready')
    expect(stepNames(collected, { buildCommand: 'make' })).not.toContain('make ready')
    expect(stepNames(collected, {}, { DISABLE_COLLECTSTATIC: '1' })).not.toContain('make ready')
  })
})

test('a file made to be slow is looked through in one pass', () => {
  const begun = performance.now()
  for (const text of ['\n'.repeat(1_000_000), 'def create_app('.repeat(60_000), 'a '.repeat(500_000), `a: ${'b'.repeat(1_000_000)}`]) {
    detect({ 'requirements.txt': 'streamlit', 'app.py': `${text}Flask(`, 'main.py': text })
    detect({ ...django, 'shop/settings.py': `${text}django.contrib.staticfiles` })
  }
  expect(performance.now() - begun).toBeLessThan(5000)
})
