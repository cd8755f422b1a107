import type { SourceView } from './source-view.ts'

export function guessPythonStart(files: SourceView): string | undefined {
  return djangoStart(files) ?? webStart(files) ?? scriptStart(files)
}

/** The names of the packages a requirements.txt, Pipfile or pyproject.toml asks for, normalised as PyPI does. */
export function pythonRequirements(files: SourceView): Set<string> {
  const lines = files.read('requirements.txt')?.split('\n') ?? files.read('Pipfile')?.split('\n') ?? projectLines(files)
  const names = lines.map((line) =>
    /^\s*"?([A-Za-z0-9][A-Za-z0-9._-]*|-r\b)/
      .exec(line)?.[1]
      ?.toLowerCase()
      .replace(/[._-]+/g, '-'),
  )
  return new Set(names.filter((name) => name !== undefined))
}

/** Strings as they stand in lists, and Poetry's keys. */
const projectLines = (files: SourceView): string[] => files.read('pyproject.toml')?.match(/"[^"\n]+"|^[\w.-]+(?=\s*=)/gm) ?? []

const APP_MODULES = ['app', 'main', 'wsgi', 'asgi', 'server', 'application']

function djangoStart(files: SourceView): string | undefined {
  if (!files.has('manage.py')) return undefined
  const site = files.folders('.').find((name) => /^\w+$/.test(name) && files.has(`${name}/wsgi.py`))
  const hasGunicorn = pythonRequirements(files).has('gunicorn')
  if (site !== undefined && hasGunicorn) return `python -m gunicorn --bind 127.0.0.1:$PORT ${site}.wsgi`
  return 'python manage.py runserver --noreload 127.0.0.1:$PORT'
}

function webStart(files: SourceView): string | undefined {
  const requirements = pythonRequirements(files)
  for (const module of APP_MODULES) {
    const app = /^(\w+)\s*(?::\s*\w+\s*)?=\s*(?:\w+\.)?(Flask|FastAPI|Starlette|Quart)\(/m.exec(files.read(`${module}.py`) ?? '')
    if (app?.[1] === undefined) continue
    const target = `${module}:${app[1]}`
    if (app[2] !== 'Flask') return `python -m uvicorn --host 127.0.0.1 --port $PORT ${target}`
    if (requirements.has('gunicorn')) return `python -m gunicorn --bind 127.0.0.1:$PORT ${target}`
    return `python -m flask --app ${target} run --host 127.0.0.1 --port $PORT`
  }
  return undefined
}

function scriptStart(files: SourceView): string | undefined {
  const script = ['main.py', 'app.py', 'server.py', 'run.py'].find((path) => files.has(path))
  return script && `python ${script}`
}
