import { traitsOf } from '../../../shared/service-type.ts'
import { findDjango } from './django.ts'
import type { DetectInput } from './plan.ts'
import { type PythonFramework, pythonRequirements } from './python-app.ts'
import type { SourceView } from './source-view.ts'

/** The framework that answers requests for an app of Python; undefined where there is none that is known, or nothing is to listen. */
export function findPythonFramework({ files, settings, env = {} }: DetectInput): PythonFramework | undefined {
  if (!traitsOf(settings.type).listens) return undefined
  return findDjango(files, env) ?? findStreamlit(files) ?? findApplication(files)
}

/** Where Streamlit's own hosting looks first, and then the names that its examples have. */
const STREAMLIT_FILES = ['streamlit_app.py', 'app.py', 'main.py', 'Home.py', 'home.py', 'dashboard.py']

function findStreamlit(files: SourceView): PythonFramework | undefined {
  if (!pythonRequirements(files).has('streamlit')) return undefined
  const script = STREAMLIT_FILES.find((path) => /^[ \t]*(import|from) streamlit\b/m.test(files.read(path) ?? ''))
  if (script === undefined) return undefined
  const flags = '--server.port $PORT --server.address 127.0.0.1 --server.headless true --browser.gatherUsageStats false'
  return { title: 'Streamlit', foundBy: script, start: `python -m streamlit run ${script} ${flags}` }
}

const NAMES = ['app', 'main', 'wsgi', 'asgi', 'server', 'application', 'api']
/** Modules in folders are where FastAPI's own command looks (https://fastapi.tiangolo.com/fastapi-cli). */
const MODULES = [
  ...NAMES.map((name) => `${name}.py`),
  'app/main.py',
  'app/app.py',
  'app/api.py',
  'app/__init__.py',
  'application/__init__.py',
]

const APPLICATION = /^(\w+)\s*(?::\s*[\w.]+\s*)?=\s*(?:\w+\.)?(Flask|FastAPI|Starlette|Quart)\(/m
const FACTORY = /^def ((?:create|make)_app)\(([^)]{0,500})\)/m

function findApplication(files: SourceView): PythonFramework | undefined {
  for (const path of MODULES) {
    const text = files.read(path)
    const [, variable, title] = APPLICATION.exec(text ?? '') ?? []
    const module = path.replace(/(\/__init__)?\.py$/, '').replaceAll('/', '.')
    if (variable !== undefined && title !== undefined) return served(title, path, `${module}:${variable}`)
    const factory = text === undefined ? undefined : flaskFactory(text)
    if (factory !== undefined) return served('Flask', path, `'${module}:${factory}()'`)
  }
  return undefined
}

function flaskFactory(text: string): string | undefined {
  if (!/\bFlask\(/.test(text)) return undefined
  const [, name, parameters = ''] = FACTORY.exec(text) ?? []
  // A factory is called as it is, so each of its parameters needs a default.
  const isCallable = parameters.split(',').every((parameter) => parameter.includes('=') || /^\s*($|\*)/.test(parameter))
  return isCallable ? name : undefined
}

function served(title: string, foundBy: string, target: string): PythonFramework {
  return title === 'Flask'
    ? { title, foundBy, start: `python -m gunicorn --bind 127.0.0.1:$PORT ${target}`, server: 'gunicorn' }
    : { title, foundBy, start: `python -m uvicorn --host 127.0.0.1 --port $PORT ${target}`, server: 'uvicorn' }
}
