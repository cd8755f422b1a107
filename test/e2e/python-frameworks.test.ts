import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { uvPin } from '../../server/builders/toolchains/uv/pin.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { deployFolder } from '../support/compiled-steps.ts'
import { keep, placeKept } from '../support/kept-toolchain.ts'

const UV = `uv-${uvPin.version}`

let cpd: Compiled
let apps: string

beforeAll(async () => {
  apps = mkdtempSync(join(tmpdir(), 'cpd-apps-'))
  cpd = await startCompiled()
  await placeKept(cpd.paths.toolchains, UV)
})
afterAll(async () => {
  await keep(cpd.paths.toolchains, UV)
  rmSync(apps, { recursive: true })
  await cpd.stop()
})

const DJANGO_SETTINGS = `from pathlib import Path
BASE = Path(__file__).resolve().parent.parent
SECRET_KEY = "known to tests"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "shop.urls"
INSTALLED_APPS = ["django.contrib.staticfiles"]
MIDDLEWARE = ["whitenoise.middleware.WhiteNoiseMiddleware"]
STATIC_URL = "static/"
STATIC_ROOT = BASE / "collected"
STATICFILES_DIRS = [BASE / "assets"]
`
const DJANGO_URLS =
  'from django.http import HttpResponse\nfrom django.urls import path\nurlpatterns = [path("", lambda request: HttpResponse("django"))]\n'
const setting = 'import os\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")\n'

const FASTAPI = `from fastapi import FastAPI, WebSocket
app = FastAPI()

@app.get("/")
def root():
    return "fastapi"

@app.websocket("/socket")
async def socket(websocket: WebSocket):
    await websocket.accept()
    await websocket.send_text("by fastapi")
`

const ASGI = `${setting}from channels.generic.websocket import WebsocketConsumer
from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application
from django.urls import path

class Told(WebsocketConsumer):
    def connect(self):
        self.accept()
        self.send("by channels")

application = ProtocolTypeRouter({
    "http": get_asgi_application(),
    "websocket": URLRouter([path("socket", Told.as_asgi())]),
})
`

/** Apps of those who follow the first page of each framework's guide, none of which names a server. */
const frameworks: { name: string; title?: string; files: Record<string, string>; start: string; answers: Record<string, string> }[] = [
  {
    name: 'django',
    files: {
      'requirements.txt': 'Django==5.2.8\nwhitenoise==6.11.0\n',
      'manage.py': `${setting}import sys\nfrom django.core.management import execute_from_command_line\nexecute_from_command_line(sys.argv)\n`,
      'shop/__init__.py': '',
      'shop/settings.py': DJANGO_SETTINGS,
      'shop/urls.py': DJANGO_URLS,
      'shop/wsgi.py': `${setting}from django.core.wsgi import get_wsgi_application\napplication = get_wsgi_application()\n`,
      'assets/style.css': 'body { color: teal }',
    },
    start: 'python -m gunicorn --bind 127.0.0.1:$PORT shop.wsgi',
    answers: { '/': 'django', '/static/style.css': 'body { color: teal }' },
  },
  {
    name: 'channels',
    title: 'django',
    files: {
      'requirements.txt': 'Django==5.2.8\nchannels[daphne]==4.3.1\n',
      'manage.py': setting,
      'shop/__init__.py': '',
      'shop/settings.py': 'SECRET_KEY = "known to tests"\nALLOWED_HOSTS = ["*"]\nROOT_URLCONF = "shop.urls"\nINSTALLED_APPS = ["daphne"]\n',
      'shop/urls.py': DJANGO_URLS,
      'shop/wsgi.py': '',
      'shop/asgi.py': ASGI,
    },
    start: 'python -m uvicorn --host 127.0.0.1 --port $PORT shop.asgi:application',
    answers: { '/': 'django' },
  },
  {
    name: 'fastapi',
    files: {
      'requirements.txt': 'fastapi==0.121.0\n',
      'app/main.py': FASTAPI,
    },
    start: 'python -m uvicorn --host 127.0.0.1 --port $PORT app.main:app',
    answers: { '/': '"fastapi"' },
  },
  {
    name: 'flask',
    files: {
      'requirements.txt': 'Flask==3.1.2\n',
      'app/__init__.py':
        'from flask import Flask\n\ndef create_app():\n    app = Flask(__name__)\n    app.add_url_rule("/", view_func=lambda: "flask")\n    return app\n',
    },
    start: "python -m gunicorn --bind 127.0.0.1:$PORT 'app:create_app()'",
    answers: { '/': 'flask' },
  },
  {
    name: 'streamlit',
    files: { 'requirements.txt': 'streamlit==1.51.0\n', 'app.py': 'import streamlit as st\nst.title("streamlit")\n' },
    start: 'python -m streamlit run app.py --server.port $PORT',
    answers: { '/_stcore/health': 'ok', '/': '<title>Streamlit</title>' },
  },
]

test.each(frameworks)(
  '$name is known, installed with what serves it, started by it, and answers',
  async ({ name, title = name, files, start, answers }) => {
    const dir = join(apps, name)
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true })
      writeFileSync(join(dir, path), text)
    }
    const log = await deployFolder(cpd, dir)
    expect(log.toLowerCase()).toContain(`framework: ${title} (`)
    expect(log).toContain(`    start: ${start}`)
    for (const [path, text] of Object.entries(answers)) {
      const answer = await cpd.appFetch(name, path)
      expect({ path, status: answer.status }).toEqual({ path, status: 200 })
      expect(await answer.text()).toContain(text)
    }
    console.info(`${name}: ${log.match(/used in all: .*/)?.[0]}`)
  },
  300_000,
)

test('the packages of the same list are kept for the next deploy', async () => {
  const again = await deployFolder(cpd, join(apps, 'flask'))
  expect(again).toContain('Dependencies are those of an earlier build: requirements.txt,')
  expect(await (await cpd.appFetch('flask')).text()).toBe('flask')
}, 120_000)

test.each([
  ['streamlit', '/_stcore/stream', undefined],
  ['fastapi', '/socket', 'by fastapi'],
  ['channels', '/socket', 'by channels'],
])('%s answers a WebSocket through the ingress at %s', async (name, path, words) => {
  const socket = new WebSocket(`ws://127.0.0.1:${cpd.ingressPort}${path}`, {
    headers: { host: `${name}.localhost`, origin: `http://${name}.localhost` },
  })
  const said = await new Promise((resolve, reject) => {
    socket.onopen = () => words === undefined && resolve(undefined)
    socket.onmessage = ({ data }) => resolve(data)
    socket.onerror = reject
  })
  expect(said).toBe(words)
  socket.close()
})
