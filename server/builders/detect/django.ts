import { type PythonFramework, pythonRequirements } from './python-app.ts'
import type { SourceView } from './source-view.ts'

/** Its own tool makes manage.py, which names the settings, and beside those what serves it. */
export function findDjango(files: SourceView, env: Readonly<Record<string, string>>): PythonFramework | undefined {
  if (!files.has('manage.py')) return undefined
  const settings = env.DJANGO_SETTINGS_MODULE ?? settingsIn(files)
  const site = siteOf(files, settings)
  if (site === undefined) return undefined
  const requirements = pythonRequirements(files)
  // Its channels answer no WebSocket over WSGI; else the server that the app brings says which way it is meant.
  const own = ['uvicorn', 'daphne'].find((name) => requirements.has(name))
  const isAsync = files.has(`${site}/asgi.py`) && (requirements.has('channels') || (own !== undefined && !requirements.has('gunicorn')))
  const served = isAsync
    ? servedAsync(own, `${site}.asgi:application`)
    : { start: `python -m gunicorn --bind 127.0.0.1:$PORT ${site}.wsgi`, server: 'gunicorn' as const }
  const finish = isCollected(files, site, env) ? { finish: 'python manage.py collectstatic --noinput' } : {}
  return { title: 'Django', foundBy: 'manage.py', ...served, ...finish }
}

const servedAsync = (own: string | undefined, target: string): Pick<PythonFramework, 'start' | 'server'> =>
  own === 'daphne'
    ? { start: `python -m daphne --bind 127.0.0.1 --port $PORT --proxy-headers ${target}` }
    : { start: `python -m uvicorn --host 127.0.0.1 --port $PORT ${target}`, server: 'uvicorn' }

const settingsIn = (files: SourceView): string | undefined =>
  /DJANGO_SETTINGS_MODULE["']\s*,\s*["']([\w.]+)["']/.exec(files.read('manage.py') ?? '')?.[1]

const MOST_FOLDERS = 200
const MOST_SETTINGS = 20

function siteOf(files: SourceView, settings: string | undefined): string | undefined {
  const named = settings?.split('.')[0]
  const isSite = (name: string): boolean => /^\w+$/.test(name) && files.has(`${name}/wsgi.py`)
  return named !== undefined && isSite(named) ? named : files.folders('.').slice(0, MOST_FOLDERS).find(isSite)
}

/** Whether its static files have a place to be collected in. As on other platforms, DISABLE_COLLECTSTATIC of the service leaves that out. */
function isCollected(files: SourceView, site: string, env: Readonly<Record<string, string>>): boolean {
  if (env.DISABLE_COLLECTSTATIC) return false
  const split = files.names(`${site}/settings`).filter((name) => name.endsWith('.py'))
  const paths = [`${site}/settings.py`, ...split.slice(0, MOST_SETTINGS).map((name) => `${site}/settings/${name}`)]
  const texts = paths.map((path) => files.read(path) ?? '')
  return texts.some((text) => /^[ \t]*STATIC_ROOT\s*[:=]/m.test(text)) && texts.some((text) => text.includes('django.contrib.staticfiles'))
}
